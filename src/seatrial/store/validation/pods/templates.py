"""The template of pods that workloads make.

Upstream: ValidatePodTemplateSpec and ValidatePodTemplate of pkg/apis/core/validation/validation.go.
"""

from collections.abc import Iterator

from seatrial.model.documents import Document
from seatrial.model.errors import Cause
from seatrial.model.label_selectors import label_key_faults
from seatrial.store.field_errors import forbidden, invalid
from seatrial.store.object_meta import label_causes
from seatrial.store.validation.pods.pod_annotations import agreement_causes, annotation_causes
from seatrial.store.validation.pods.pod_specs import pod_spec_causes


def template_causes(template: Document, path: str, old: Document | None = None) -> Iterator[Cause]:
    """Validation errors of a template; errors of the `old` one may stay."""
    if old is not None and template == old:
        return
    metadata, spec = template.get("metadata") or {}, template.get("spec") or {}
    yield from label_causes(metadata.get("labels") or {}, f"{path}.labels")
    if annotations := metadata.get("annotations"):
        for key in annotations:
            for fault in label_key_faults(key.lower()):
                yield invalid(f"{path}.annotations", key, fault)
        yield from annotation_causes(annotations, spec, f"{path}.annotations")
    wrong = pod_spec_causes(spec, f"{path}.spec", is_pod=False)
    if wrong:
        known = pod_spec_causes(old.get("spec") or {}, f"{path}.spec", is_pod=False) if old is not None else ()
        yield from (cause for cause in wrong if cause not in known)
    if annotations:
        yield from agreement_causes(annotations, spec, f"{path}.spec")
    if spec.get("ephemeralContainers"):
        yield forbidden(f"{path}.spec.ephemeralContainers", "ephemeral containers not allowed in pod template")


def create_causes(document: Document) -> Iterator[Cause]:
    """Validation errors of a new PodTemplate."""
    return template_causes(document.get("template") or {}, "template")


def update_causes(document: Document, old: Document, subresource: str) -> Iterator[Cause]:
    """Validation errors of an update of a PodTemplate."""
    return template_causes(document.get("template") or {}, "template", old.get("template") or {})
