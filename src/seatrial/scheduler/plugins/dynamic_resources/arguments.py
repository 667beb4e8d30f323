"""The arguments of DynamicResources."""

from collections.abc import Iterator

from seatrial.model.documents import Document
from seatrial.model.durations import parse_duration
from seatrial.model.times import SECOND
from seatrial.scheduler.config.arguments import Arguments, Gates
from seatrial.scheduler.config.field_errors import invalid
from seatrial.scheduler.config.shapes import DURATION, nullable, pointer


def _defaults(args: Document, gates: Gates) -> None:
    args.setdefault("filterTimeout", "10s")
    args.setdefault("bindingTimeout", "10m0s")


def _problems(args: Document, path: str, gates: Gates) -> Iterator[str]:
    if "filterTimeout" in args and parse_duration(args["filterTimeout"]) < 0:
        yield invalid(f"{path}.filterTimeout", args["filterTimeout"], "must be zero or positive")
    if "bindingTimeout" in args and parse_duration(args["bindingTimeout"]) < SECOND:
        yield invalid(f"{path}.bindingTimeout", args["bindingTimeout"], "must be at least 1 second")


ARGUMENTS = Arguments(
    "DynamicResources",
    {"filterTimeout": nullable(DURATION), "bindingTimeout": pointer(DURATION)},
    defaults=_defaults,
    problems=_problems,
    gated={
        "filterTimeout": (
            frozenset(("DRASchedulerFilterTimeout",)),
            "DRASchedulingFilterTimeout feature gate is disabled",
        ),
        "bindingTimeout": (
            frozenset(("DRADeviceBindingConditions", "DRAResourceClaimDeviceStatus")),
            "DRADeviceBindingConditions or DRAResourceClaimDeviceStatus feature gate is disabled",
        ),
    },
)
