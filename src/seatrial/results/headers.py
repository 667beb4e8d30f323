"""The parts of a Scenario with its result that every reader needs."""

import msgspec


class _Meta(msgspec.Struct):
    name: str = ""


class _Result(msgspec.Struct, rename="camel"):
    simulator_version: str = ""


class _Status(msgspec.Struct, rename="camel"):
    phase: str = "Unknown"
    message: str | None = None
    scenario_result: _Result = msgspec.field(default_factory=_Result)


class Header(msgspec.Struct):
    """The parts of a result that are read without decoding all of it: a long one has tens of megabytes."""

    kind: str = ""
    metadata: _Meta = msgspec.field(default_factory=_Meta)
    spec: msgspec.Raw = msgspec.Raw(b"")
    status: _Status = msgspec.field(default_factory=_Status)
