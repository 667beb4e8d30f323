"""The exceptions, as one tree.

SeatrialError
  StatusError        carries a Kubernetes Status: what a client of the API reads
    BadRequest, Unauthorized, Forbidden, NotFound, MethodNotAllowed, NotAcceptable, AlreadyExists,
    Conflict, Gone, TooLarge, UnsupportedMediaType, Invalid, TooManyRequests,
    ServiceUnavailable (StorageFailed), ServerTimeout
  ConfigError        a file of ours, the field in it, and what was expected
  ScenarioError      an operation of a scenario that cannot be carried out
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar


class SeatrialError(Exception):
    """An expected failure: its message alone is enough for a user to act."""

    def __reduce__(self) -> tuple[Any, ...]:
        """Lets another process raise it here: by default the arguments of `__init__` would be taken to be `args`."""
        return _restored, (type(self), self.args), self.__dict__


def _restored(kind: type[SeatrialError], args: tuple[Any, ...]) -> SeatrialError:
    return kind.__new__(kind, *args)


@dataclass(frozen=True, slots=True)
class Cause:
    """One field that is wrong, as metav1.StatusCause has it."""

    field: str
    message: str
    reason: str = "FieldValueInvalid"

    def document(self) -> dict[str, str]:
        """The StatusCause, without what is empty."""
        found = {"reason": self.reason, "message": self.message, "field": self.field}
        return {key: value for key, value in found.items() if value}


class StatusError(SeatrialError):
    """A refusal as the Kubernetes API words it."""

    code: ClassVar[int] = 500
    reason: ClassVar[str] = "InternalError"
    detailed: ClassVar[bool] = False
    """Whether the Status has details even where they are empty."""

    def __init__(
        self,
        message: str,
        *,
        group: str = "",
        kind: str = "",
        name: str = "",
        uid: str = "",
        causes: Sequence[Cause] = (),
        retry_after: int = 0,
        detailed: bool = False,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.group, self.kind, self.name, self.uid = group, kind, name, uid
        self.causes = tuple(causes)
        self.retry_after = retry_after
        self._detailed = detailed or self.detailed

    def status(self) -> dict[str, Any]:
        """The metav1.Status document of this error."""
        details: dict[str, Any] = {
            key: value
            for key, value in (("name", self.name), ("group", self.group), ("kind", self.kind), ("uid", self.uid))
            if value
        }
        if self.causes:
            details["causes"] = [cause.document() for cause in self.causes]
        if self.retry_after:
            details["retryAfterSeconds"] = self.retry_after
        document: dict[str, Any] = {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": self.message,
            **({"reason": self.reason} if self.reason else {}),
        }
        if details or self._detailed:
            document["details"] = details
        document["code"] = self.code
        return document


def status_error(code: int, reason: str, message: str, details: Any = None) -> StatusError:
    """A refusal whose code and reason come from elsewhere, as from a webhook."""
    kind = type("OtherStatus", (StatusError,), {"code": code, "reason": reason})
    error: StatusError = kind(message)
    found = details if isinstance(details, dict) else {}
    error.group, error.kind, error.name = (str(found.get(key) or "") for key in ("group", "kind", "name"))
    causes = found.get("causes") or ()
    error.causes = tuple(
        Cause(str(each.get("field", "")), str(each.get("message", "")), str(each.get("reason", ""))) for each in causes
    )
    return error


class BadRequest(StatusError):
    code, reason = 400, "BadRequest"


class Unauthorized(StatusError):
    code, reason = 401, "Unauthorized"


class Forbidden(StatusError):
    code, reason, detailed = 403, "Forbidden", True


class NotFound(StatusError):
    code, reason = 404, "NotFound"


class MethodNotAllowed(StatusError):
    code, reason, detailed = 405, "MethodNotAllowed", True


class NotAcceptable(StatusError):
    code, reason = 406, "NotAcceptable"


class AlreadyExists(StatusError):
    code, reason = 409, "AlreadyExists"


class Conflict(StatusError):
    code, reason = 409, "Conflict"


class Gone(StatusError):
    """A revision that is no longer kept; a list may go on with another token."""

    code, reason = 410, "Expired"

    def __init__(self, message: str, *, continuation: str = "") -> None:
        super().__init__(message)
        self._continuation = continuation

    def status(self) -> dict[str, Any]:
        return super().status() | ({"metadata": {"continue": self._continuation}} if self._continuation else {})


class TooLarge(StatusError):
    code, reason = 413, "RequestEntityTooLarge"


class UnsupportedMediaType(StatusError):
    code, reason = 415, "UnsupportedMediaType"


class Invalid(StatusError):
    code, reason = 422, "Invalid"


class TooManyRequests(StatusError):
    code, reason = 429, "TooManyRequests"


class ServiceUnavailable(StatusError):
    code, reason = 503, "ServiceUnavailable"


class StorageFailed(ServiceUnavailable):
    """A write that could not be made durable; the store takes no more of them."""


class ServerTimeout(StatusError):
    code, reason = 504, "Timeout"


class ConfigError(SeatrialError):
    """A file of ours that cannot be used: where, which field, and what was expected."""

    def __init__(self, path: str, field: str, why: str) -> None:
        super().__init__(": ".join(part for part in (path, field, why) if part))
        self.path, self.field, self.why = path, field, why


class ScenarioError(SeatrialError):
    """An operation of a scenario that cannot be carried out."""

    def __init__(self, operation: str, why: str) -> None:
        super().__init__(f"operation {operation}: {why}" if operation else why)
        self.operation, self.why = operation, why
