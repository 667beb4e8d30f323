"""Results of a run: one reader for every input, frames, measures, explanations, comparison."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from seatrial.results.explanation import Explanation, explain, find_pods, waiting_groups
    from seatrial.results.headlines import headline
    from seatrial.results.lifecycles import PodLife
    from seatrial.results.lives import Lives, Which
    from seatrial.results.measure import all_measures, find_measures, load_measures, own_measure
    from seatrial.results.result import Result
    from seatrial.results.run import Run
    from seatrial.results.tables import as_document
    from seatrial.results.waiting_reasons import Group, groups_of, waiting_document

__all__ = [
    "Explanation",
    "Group",
    "Lives",
    "PodLife",
    "Result",
    "Run",
    "Which",
    "all_measures",
    "as_document",
    "explain",
    "find_measures",
    "find_pods",
    "groups_of",
    "headline",
    "load_measures",
    "own_measure",
    "waiting_document",
    "waiting_groups",
]

if not TYPE_CHECKING:
    from seatrial.model.lazy_exports import lazy_exports

    __getattr__ = lazy_exports(
        __name__,
        {
            "Explanation": "explanation",
            "Group": "waiting_reasons",
            "Lives": "lives",
            "PodLife": "lifecycles",
            "Result": "result",
            "Run": "run",
            "Which": "lives",
            "all_measures": "measure",
            "as_document": "tables",
            "explain": "explanation",
            "find_measures": "measure",
            "find_pods": "explanation",
            "groups_of": "waiting_reasons",
            "headline": "headlines",
            "load_measures": "measure",
            "own_measure": "measure",
            "waiting_document": "waiting_reasons",
            "waiting_groups": "explanation",
        },
    )
