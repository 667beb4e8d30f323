"""The Common Expression Language with Kubernetes' libraries."""

from seatrial.model.lazy_exports import TYPE_CHECKING, lazy_exports

if TYPE_CHECKING:
    from seatrial.model.cel.bounded_work import Allowance, TooMuchWork, charge_before, charge_to, within
    from seatrial.model.cel.costs import Meter
    from seatrial.model.cel.errors import CelError, CelSyntaxError
    from seatrial.model.cel.estimate import Estimator, Known
    from seatrial.model.cel.evaluator import Program, compile_expression
    from seatrial.model.cel.kubernetes import CelQuantity, parse_semver
    from seatrial.model.cel.sizes import MOST
    from seatrial.model.cel.times import duration_of, timestamp_of
    from seatrial.model.cel.values import NO_OVERLOAD, NONE, DefaultMap, Optional, type_of
else:
    __getattr__, __dir__ = lazy_exports(__name__)
