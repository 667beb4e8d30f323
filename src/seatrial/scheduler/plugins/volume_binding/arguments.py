"""The arguments of VolumeBinding."""

from collections.abc import Iterator

from seatrial.model.documents import Document
from seatrial.scheduler.config.arguments import Arguments, Gates
from seatrial.scheduler.config.field_errors import invalid
from seatrial.scheduler.config.shapes import INT64, Field, pointer
from seatrial.scheduler.config.types import UTILIZATION_SHAPE
from seatrial.scheduler.plugins.node_resources.arguments import shape_problems

CAPACITY_SCORING = "StorageCapacityScoring"


def _defaults(args: Document, gates: Gates) -> None:
    args.setdefault("bindTimeoutSeconds", 600)
    if not args.get("shape") and gates.get(CAPACITY_SCORING):
        args["shape"] = [{"utilization": 0, "score": 10}, {"utilization": 100, "score": 0}]


def _problems(args: Document, path: str, gates: Gates) -> Iterator[str]:
    timeout = args["bindTimeoutSeconds"]
    if timeout < 0:
        detail = "invalid BindTimeoutSeconds, should not be a negative value"
        yield invalid(f"{path}.bindTimeoutSeconds", timeout, detail)
    if gates.get(CAPACITY_SCORING):
        yield from shape_problems(args["shape"], f"{path}.shape")
    elif "shape" in args:
        points = [{"Utilization": p.get("utilization", 0), "Score": p.get("score", 0)} for p in args["shape"]]
        detail = "unexpected field `shape`, remove it or turn on the feature gate StorageCapacityScoring"
        yield invalid(f"{path}.shape", points, detail)


ARGUMENTS = Arguments(
    "VolumeBinding",
    {"bindTimeoutSeconds": pointer(INT64), "shape": Field(UTILIZATION_SHAPE)},
    defaults=_defaults,
    problems=_problems,
)
