"""Names of writers: the store records one with each change, and a run tells users and operations apart by it.

A client of the API server writes as `user:NAME`, an operation of a scenario as `operation:ID`, and each controller and
scheduler under its own name. The names are part of a run's files, so they are text.
"""

_USER, _OPERATION = "user:", "operation:"


def user_writer(name: str) -> str:
    """The writer of a client's request."""
    return f"{_USER}{name}"


def operation_writer(id: str) -> str:
    """The writer of a scenario's operation."""
    return f"{_OPERATION}{id}"


def is_user(writer: str) -> bool:
    """Whether a client wrote, and not a part of the simulation."""
    return writer.startswith(_USER)


def is_operation(writer: str) -> bool:
    """Whether an operation of the scenario wrote."""
    return writer.startswith(_OPERATION)


def user_of(writer: str) -> str:
    """The client's name."""
    return writer.removeprefix(_USER)
