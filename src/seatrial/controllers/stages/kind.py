"""The kind Stage, served without its CustomResourceDefinition so that KWOK's files can be used as they are."""

from seatrial.model.kinds import Kind
from seatrial.store.store import Store

STAGE = Kind("kwok.x-k8s.io", "v1alpha1", "Stage", "stages", namespaced=False, singular="stage")


def serve_stages(store: Store) -> None:
    """Let a store keep Stages, unless a definition does already."""
    if store.kinds.named(STAGE.api_version, STAGE.kind) is None:
        store.kinds.add(STAGE)
