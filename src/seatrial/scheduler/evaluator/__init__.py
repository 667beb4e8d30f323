"""Evaluators: which nodes pass the filters, and what they score.

`plain` is the specification. All other modules are shortcuts that give the same answers.
"""

from seatrial.scheduler.evaluator.cached import CachedEvaluator
from seatrial.scheduler.evaluator.interface import Evaluator, Found
from seatrial.scheduler.evaluator.plain import PlainEvaluator
from seatrial.scheduler.framework.shortcuts import Shortcuts, chosen_shortcuts

__all__ = ["CachedEvaluator", "Evaluator", "Found", "PlainEvaluator", "Shortcuts", "chosen_shortcuts"]
