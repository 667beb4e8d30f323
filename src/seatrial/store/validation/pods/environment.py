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
from seatrial.store.validation.rules import always, need, present, rules, valid

_ONE_OF = "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`"
_SOURCES = ("fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef", "fileKeyRef")


def _one_source(variable: Document, path: str) -> Iterator[Cause]:
    source, path = variable.get("valueFrom"), f"{path}.valueFrom"
    if source is None:
        return
    yield from _SOURCE(source, path)
    given = [key for key in _SOURCES if source.get(key) is not None]
    if not given:
        yield invalid(path, "", _ONE_OF)
    elif variable.get("value"):
        yield invalid(path, "", "may not be specified when `value` is not empty")
    elif len(given) > 1:
        yield invalid(path, "", "may not have more than one field specified at a time")


_KEY = rules(always("name", subdomain), need("key", valid(key_faults)))
_SOURCE = rules(
    present("fieldRef", lambda reference, path: field_reference(reference, ENVIRONMENT_FIELDS, path)),
    present("resourceFieldRef", lambda reference, path: resource_reference(reference, path, volume=False)),
    present("configMapKeyRef", _KEY),
    present("secretKeyRef", _KEY),
    present(
        "fileKeyRef",
        rules(need("key", valid(environment_faults)), need("volumeName", label), need("path", no_backsteps)),
    ),
)
variable = rules(need("name", valid(environment_faults)), _one_source)
"""The rules of one variable."""


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
