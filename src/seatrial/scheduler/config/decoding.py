"""Strict decoding of a KubeSchedulerConfiguration, from YAML or JSON text or from a document.

Upstream: pkg/scheduler/apis/config/scheme and k8s.io/kube-scheduler/config/v1/types.go (DecodeNestedObjects).
"""

from typing import Any

from seatrial.model.documents import Document, encode
from seatrial.model.documents import decode as read_json
from seatrial.model.yaml_reader import YamlError, load_all
from seatrial.scheduler.config.field_errors import ConfigurationError
from seatrial.scheduler.config.old_versions import OLD_VERSIONS, convert_old
from seatrial.scheduler.config.shapes import Record, WrongType, decode
from seatrial.scheduler.config.types import GROUP, KIND, V1, configuration_type
from seatrial.scheduler.plugins.registry import in_tree_arguments
from seatrial.scheduler.versions import Version

_SCHEME = "pkg/scheduler/apis/config/scheme/scheme.go:29"


def decode_configuration(
    source: Document | str, kubernetes: Version, *, old_versions: bool
) -> tuple[Document, list[str]]:
    """The document with its arguments decoded, and warnings; a copy, so that the source stays as it is."""
    document = _parsed(source)
    version, kind = document.get("apiVersion"), document.get("kind")
    warnings: list[str] = []
    if old_versions and kind == KIND and version in OLD_VERSIONS:
        document, warnings = convert_old(document, kubernetes.minor)
        version = V1
    _check_kind(version, kind, document)
    unknown: list[str] = []
    result = _shaped(configuration_type(kubernetes.group_points), document, unknown)
    nested: list[str] = []
    for index, profile in enumerate(result.get("profiles", ())):
        for number, config in enumerate(profile.get("pluginConfig", ())):
            _decode_args(config, kubernetes, f"decoding .profiles[{index}].pluginConfig[{number}]: ", nested)
    if unknown or nested:
        raise ConfigurationError("decode", [f"strict decoding error: {', '.join(unknown + nested)}"])
    return result, warnings


def _parsed(source: Document | str) -> Document:
    if not isinstance(source, str):
        found = read_json(encode(source))
    else:
        try:
            documents = load_all(source)
        except YamlError as error:
            raise ConfigurationError("decode", [str(error)]) from error
        if len(documents) > 1:
            raise ConfigurationError("decode", ["expected one document"])
        found = documents[0] if documents else None
    if not isinstance(found, dict):
        text = "couldn't get version/kind; json parse error: expected an object"
        raise ConfigurationError("decode", [text])
    return found


def _check_kind(version: Any, kind: Any, document: Document) -> None:
    if not kind:
        raise ConfigurationError("decode", [f"Object 'Kind' is missing in '{encode(document).decode()}'"])
    if not version:
        raise ConfigurationError("decode", [f"Object 'apiVersion' is missing in '{encode(document).decode()}'"])
    if not _is_registered(version, kind):
        text = f'no kind "{kind}" is registered for version "{version}" in scheme "{_SCHEME}"'
        raise ConfigurationError("decode", [text])
    if kind != KIND:
        text = f"couldn't decode as KubeSchedulerConfiguration, got {GROUP}/v1, Kind={kind}: "
        raise ConfigurationError("decode", [text])


def _is_registered(version: Any, kind: Any) -> bool:
    return version == V1 and (kind == KIND or any(kind == one.kind for one in in_tree_arguments().values()))


def _shaped(shape: Record, value: Any, unknown: list[str]) -> Document:
    try:
        return decode(shape, value, "", unknown)  # type: ignore[no-any-return]
    except WrongType as error:
        raise ConfigurationError("decode", [str(error)]) from error


def _decode_args(config: Document, kubernetes: Version, where: str, problems: list[str]) -> None:
    """Decode the arguments of an in-tree plugin in place; those of others stay as they were given."""
    name = config.get("name", "")
    known = in_tree_arguments(kubernetes).get(name)
    if known is None:
        return
    args = config.get("args") or {}
    if not isinstance(args, dict):
        raise ConfigurationError("decode", [f"{where}decoding args for plugin {name}: expected an object"])
    version, kind = args.get("apiVersion", V1), args.get("kind", known.kind)
    if not _is_registered(version, kind):
        text = f'no kind "{kind}" is registered for version "{version}" in scheme "{_SCHEME}"'
        raise ConfigurationError("decode", [f"{where}decoding args for plugin {name}: {text}"])
    if kind != known.kind:
        text = f"args for plugin {name} were not of type {known.kind}.{GROUP}, got {kind}.{GROUP}"
        raise ConfigurationError("decode", [where + text])
    unknown: list[str] = []
    try:
        config["args"] = decode(known.type, args, "", unknown)
    except WrongType as error:
        raise ConfigurationError("decode", [f"{where}decoding args for plugin {name}: {error}"]) from error
    if unknown:
        text = f"decoding args for plugin {name}: strict decoding error: {', '.join(unknown)}"
        problems.append(f"{where}strict decoding error: {text}")
