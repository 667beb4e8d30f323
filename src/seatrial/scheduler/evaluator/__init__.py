"""Evaluators: which nodes pass the filters, and what they score.

`plain` is the specification. All other modules are shortcuts that give the same answers.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from seatrial.scheduler.evaluator.cached import CachedEvaluator
    from seatrial.scheduler.evaluator.interface import Evaluator, Found, Scored
    from seatrial.scheduler.evaluator.plain import PlainEvaluator
    from seatrial.scheduler.evaluator.shortcuts import Shortcuts, chosen_shortcuts

__all__ = ["CachedEvaluator", "Evaluator", "Found", "PlainEvaluator", "Scored", "Shortcuts", "chosen_shortcuts"]

if not TYPE_CHECKING:
    from seatrial.model.lazy_exports import lazy_exports

    __getattr__ = lazy_exports(
        __name__,
        {
            "CachedEvaluator": "cached",
            "Evaluator": "interface",
            "Found": "interface",
            "PlainEvaluator": "plain",
            "Scored": "interface",
            "Shortcuts": "shortcuts",
            "chosen_shortcuts": "shortcuts",
        },
    )
