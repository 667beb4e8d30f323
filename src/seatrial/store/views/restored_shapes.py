"""Finds the pods of a snapshot that are alike, so that they share what is read of them.

Such pods come without the template that made them. They are compared by their encoded fields instead: pods of one
owner differ in little more than what a shape leaves out, the time of creation and the name of the volume with the
token of their service account, which kube-apiserver makes at random.
"""

from collections.abc import Iterator
from typing import Any

from seatrial.model.documents import Document, encode
from seatrial.store.memo import Memo
from seatrial.store.objects import Path, Shape, Varying

ACCESS = "kube-api-access-"
OWN = frozenset(("name", "uid", "resourceVersion", "creationTimestamp"))
SHAPES_KEPT = 4096
_TIME: Path = ("metadata", "creationTimestamp")


class RestoredShapes:
    """The shapes of the pods that one store has restored."""

    def __init__(self) -> None:
        self._templates: Memo[bytes, Varying] = Memo(SHAPES_KEPT)
        self._shapes: Memo[tuple[Any, ...], Shape] = Memo(SHAPES_KEPT)

    def shape(self, pod: Document) -> Shape:
        """The shape of a pod, whose fields are in the order in which they are stored."""
        metadata, spec = pod["metadata"], pod.get("spec") or {}
        rest = {key: value for key, value in spec.items() if key != "nodeName"}
        paths, values = [_TIME], [metadata.get("creationTimestamp")]
        if any(str(volume.get("name")).startswith(ACCESS) for volume in rest.get("volumes") or ()):
            rest = rest.copy()
            for path, name in _places(rest):
                paths.append(path)
                values.append(name)
        head = {key: None if key in OWN else value for key, value in metadata.items()}
        key = encode({**pod, "metadata": head, "spec": rest, "status": None})
        template = self._templates.get(key)
        if template is None:
            template = self._templates[key] = Varying(tuple(paths))
        known = template, *values
        shape = self._shapes.get(known)
        if shape is None:
            shape = self._shapes[known] = Shape(template, tuple(values))
        return shape


def _places(spec: Document) -> Iterator[tuple[Path, str]]:
    """The places with the name of such a volume; it is taken out of the spec, of which these parts are copied."""
    volumes = spec["volumes"] = [dict(each) for each in spec["volumes"]]
    for index, volume in enumerate(volumes):
        if str(volume.get("name")).startswith(ACCESS):
            yield ("spec", "volumes", index, "name"), volume["name"]
            volume["name"] = None
    for field in ("containers", "initContainers"):
        if not spec.get(field):
            continue
        spec[field] = [dict(each) for each in spec[field]]
        for number, container in enumerate(spec[field]):
            if not container.get("volumeMounts"):
                continue
            mounts = container["volumeMounts"] = [dict(each) for each in container["volumeMounts"]]
            for index, mount in enumerate(mounts):
                if str(mount.get("name")).startswith(ACCESS):
                    yield ("spec", field, number, "volumeMounts", index, "name"), mount["name"]
                    mount["name"] = None
