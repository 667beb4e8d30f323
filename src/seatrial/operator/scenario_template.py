"""The Scenario of a template file, ready to be sent.

The file may be far larger than what an API server takes for ordinary objects. JSON that is complete as it is goes out
unchanged and is never held as Python objects.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from seatrial.model.documents import Document, encode
from seatrial.model.errors import ConfigError
from seatrial.scenario.spec import Planned, dialect_of, expand_and_number, read_scenario
from seatrial.scenario.spec.kind import API_VERSION


@dataclass(frozen=True, slots=True)
class ScenarioTemplate:
    """A Scenario's name and its JSON."""

    name: str
    body: bytes


class _Metadata(msgspec.Struct):
    name: str


class _Spec(msgspec.Struct):
    generators: list[dict[str, Any]] | None = None


class _Outline(msgspec.Struct, rename="camel"):
    api_version: str
    kind: str
    metadata: _Metadata
    spec: _Spec


def read_template(path: Path, *, append_done: bool = False) -> ScenarioTemplate:
    """The Scenario of a file; generators that read files are expanded, since the simulator does not see the files."""
    try:
        content = path.read_bytes()
    except OSError as error:
        why = f"{error.strerror or error}: is it in the volume that is mounted at /mnt?"
        raise ConfigError(str(path), "scenarioTemplateFilePath", why) from error
    outline = None if append_done else _outline(content)
    if outline is not None:
        return ScenarioTemplate(outline.metadata.name, content)
    document = read_scenario(path)
    if append_done or _reads_files((document.get("spec") or {}).get("generators")):
        return ScenarioTemplate(document["metadata"]["name"], _settled(document, path, append_done=append_done))
    return ScenarioTemplate(document["metadata"]["name"], encode(document))


def _outline(content: bytes) -> _Outline | None:
    """The head of a file that can be sent as it is; None where it has to be read in full."""
    if not content.lstrip().startswith(b"{"):
        return None
    try:
        outline = msgspec.json.decode(content, type=_Outline)
    except msgspec.MsgspecError:
        return None
    if outline.api_version != API_VERSION or outline.kind != "Scenario" or _reads_files(outline.spec.generators):
        return None
    return outline


def _reads_files(generators: list[dict[str, Any]] | None) -> bool:
    return any("from" in generator for generator in generators or ())


def _settled(document: Document, path: Path, *, append_done: bool) -> bytes:
    try:
        head, operations = expand_and_number(document, path.parent)
    except ConfigError as error:
        raise ConfigError(error.path or str(path), error.field, error.why) from error
    dialect = dialect_of(head["spec"])
    listed = [msgspec.Raw(planned.data) for planned in operations]
    if append_done:
        listed.append(msgspec.Raw(encode(_done(operations, minor_steps=dialect.minor_steps))))
    return msgspec.json.encode({**head, "spec": {**head["spec"], dialect.listing: listed}})


def _done(operations: list[Planned], *, minor_steps: bool) -> Document:
    """A Done at the last step, in the spelling of the scenario."""
    step = max((planned.step for planned in operations), default=0)
    if minor_steps:
        return {"step": step, "doneOperation": {}}
    return {"step": step, "operation": "Done", "doneOperation": {"done": True}}
