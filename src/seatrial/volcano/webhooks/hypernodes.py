"""Validation of a HyperNode beyond what its definition says: patterns must compile.

Upstream: pkg/webhooks/admission/hypernodes/validate/admit_hypernode.go.
"""

from typing import Final

from seatrial.model.regular_expressions import RegexError, regex
from seatrial.store import Request
from seatrial.store.admission import Reader
from seatrial.store.field_errors import quoted
from seatrial.volcano.webhooks.denied import Denied

WEBHOOK: Final = "validatehypernode.volcano.sh"


def validate(request: Request, reader: Reader) -> None:
    """Refuse a HyperNode without members or with a pattern that is no regular expression."""
    members = (request.document.get("spec") or {}).get("members") or ()
    faults = [] if members else [".spec.members: Invalid value: null: member must have at least one member"]
    for member in members:
        pattern = ((member.get("selector") or {}).get("regexMatch") or {}).get("pattern", "")
        try:
            regex(pattern)
        except RegexError as error:
            where = f".spec.members.selector.regexMatch.pattern: Invalid value: {quoted(pattern)}"
            faults.append(f"{where}: member regexMatch pattern is invalid: {error}")
    if faults:
        raise Denied(WEBHOOK, faults[0] if len(faults) == 1 else f"[{', '.join(faults)}]")
