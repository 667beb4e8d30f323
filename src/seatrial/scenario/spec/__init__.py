"""The Scenario as written: decoding, generators, validation, lint, and the plan of operations."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from seatrial.scenario.spec.decoding import decode_scenario, line_of, read_scenario, respell, undecodable
    from seatrial.scenario.spec.dialect import FAILED, RUNNING, Dialect, Phase, dialect_of
    from seatrial.scenario.spec.linting import lint, places
    from seatrial.scenario.spec.operation_ids import Planned
    from seatrial.scenario.spec.placeholders import Template
    from seatrial.scenario.spec.plan import expand_and_number
    from seatrial.scenario.spec.validation import canonical

__all__ = [
    "FAILED",
    "RUNNING",
    "Dialect",
    "Phase",
    "Planned",
    "Template",
    "canonical",
    "decode_scenario",
    "dialect_of",
    "expand_and_number",
    "line_of",
    "lint",
    "places",
    "read_scenario",
    "respell",
    "undecodable",
]

if not TYPE_CHECKING:
    from seatrial.model.lazy_exports import lazy_exports

    __getattr__ = lazy_exports(
        __name__,
        {
            "Dialect": "dialect",
            "FAILED": "dialect",
            "Phase": "dialect",
            "Planned": "operation_ids",
            "RUNNING": "dialect",
            "Template": "placeholders",
            "canonical": "validation",
            "decode_scenario": "decoding",
            "dialect_of": "dialect",
            "line_of": "decoding",
            "lint": "linting",
            "places": "linting",
            "read_scenario": "decoding",
            "respell": "decoding",
            "expand_and_number": "plan",
            "undecodable": "decoding",
        },
    )
