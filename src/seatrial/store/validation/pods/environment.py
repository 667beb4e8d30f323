"""The environment of a container: variables and where their values come from.

Upstream: ValidateEnv and ValidateEnvFrom of pkg/apis/core/validation/validation.go.
"""

from collections.abc import Iterator, Mapping, Sequence

from seatrial.model.documents import Document
from seatrial.model.errors import Cause
from seatrial.store.field_errors import invalid, not_found_value, required
from seatrial.store.object_meta import subdomain_faults
from seatrial.store.validation.formats import each, environment_faults, key_faults, label, no_backsteps, subdomain
from seatrial.store.validation.pods.projections import ENVIRONMENT_FIELDS, field_reference, resource_reference

_ONE_OF = "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`"
_SOURCES = ("fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef", "fileKeyRef")


def environment(variables: Sequence[Document], path: str) -> Iterator[Cause]:
    """Variables by name."""
    for index, variable in enumerate(variables):
        name = variable.get("name", "")
        if not name:
            yield required(f"{path}[{index}].name")
        else:
            yield from each(environment_faults, name, f"{path}[{index}].name")
        if (source := variable.get("valueFrom")) is not None:
            yield from _source(source, variable.get("value", ""), f"{path}[{index}].valueFrom")


def _source(source: Document, value: str, path: str) -> Iterator[Cause]:
    given = [key for key in _SOURCES if source.get(key) is not None]
    for key in given:
        reference, where = source[key], f"{path}.{key}"
        if key == "fieldRef":
            yield from field_reference(reference, ENVIRONMENT_FIELDS, where)
        elif key == "resourceFieldRef":
            yield from resource_reference(reference, where, volume=False)
        elif key == "fileKeyRef":
            yield from _file_key(reference, where)
        else:
            yield from _key(reference, where)
    if not given:
        yield invalid(path, "", _ONE_OF)
    elif value:
        yield invalid(path, "", "may not be specified when `value` is not empty")
    elif len(given) > 1:
        yield invalid(path, "", "may not have more than one field specified at a time")


def _key(reference: Document, path: str) -> Iterator[Cause]:
    yield from subdomain(reference.get("name", ""), f"{path}.name")
    if not reference.get("key"):
        yield required(f"{path}.key")
    else:
        yield from each(key_faults, reference["key"], f"{path}.key")


def _file_key(reference: Document, path: str) -> Iterator[Cause]:
    checks = (
        ("key", lambda value, where: each(environment_faults, value, where)),
        ("volumeName", label),
        ("path", no_backsteps),
    )
    for key, check in checks:
        if not reference.get(key):
            yield required(f"{path}.{key}")
        else:
            yield from check(reference[key], f"{path}.{key}")


def environment_from(sources: Sequence[Document], path: str) -> Iterator[Cause]:
    """Variables from all keys of a ConfigMap or Secret."""
    for index, source in enumerate(sources):
        where = f"{path}[{index}]"
        if source.get("prefix"):
            yield from each(environment_faults, source["prefix"], f"{where}.prefix")
        given = [key for key in ("configMapRef", "secretRef") if source.get(key) is not None]
        for key in given:
            name = source[key].get("name", "")
            if not name:
                yield required(f"{where}.{key}.name")
            else:
                # Upstream checks these as it checks prefixes: one that ends with a dash passes.
                masked = f"{name[:-1]}a" if len(name) > 1 and name.endswith("-") else name
                for fault in subdomain_faults(masked):
                    yield invalid(f"{where}.{key}.name", name, fault)
        if not given:
            yield invalid(path, "", "must specify one of: `configMapRef` or `secretRef`")
        elif len(given) > 1:
            yield invalid(path, "", "may not have more than one field specified at a time")


def file_volumes(variables: Sequence[Document], volumes: Mapping[str, Document], path: str) -> Iterator[Cause]:
    """A variable read from a file needs the volume it is in."""
    for index, variable in enumerate(variables):
        reference = (variable.get("valueFrom") or {}).get("fileKeyRef")
        if reference is None:
            continue
        name, where = reference.get("volumeName", ""), f"{path}[{index}].valueFrom.fileKeyRef.volumeName"
        if name not in volumes:
            yield not_found_value(where, name)
        elif volumes[name].get("emptyDir") is None:
            yield invalid(where, name, "referenced volume must be of type emptyDir")
