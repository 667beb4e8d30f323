"""The Scenario as written: decoding, generators, validation, lint, and the plan of operations."""

from seatrial.model.lazy_exports import TYPE_CHECKING, lazy_exports

if TYPE_CHECKING:
    from seatrial.scenario.spec.alone import scenario_alone, schedulers_of, with_volcano
    from seatrial.scenario.spec.decoding import decode_scenario, line_of, read_scenario, respell, undecodable
    from seatrial.scenario.spec.dialect import FAILED, RUNNING, Dialect, Phase, dialect_of
    from seatrial.scenario.spec.linting import lint, places
    from seatrial.scenario.spec.operation_ids import Planned
    from seatrial.scenario.spec.placeholders import Template
    from seatrial.scenario.spec.plan import expand_and_number
    from seatrial.scenario.spec.validation import canonical
else:
    __getattr__, __dir__ = lazy_exports(__name__)
