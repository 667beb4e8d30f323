"""The kind Stage, served without its CustomResourceDefinition so that KWOK's files can be used as they are."""

import logging

from seatrial.controllers.stages.schema import STAGE_SCHEMA
from seatrial.controllers.stages.stage import Stage, read_stage
from seatrial.model.documents import Document
from seatrial.model.errors import Cause, ConfigError
from seatrial.model.kinds import Kind
from seatrial.store import Store

STAGE = Kind("kwok.x-k8s.io", "v1alpha1", "Stage", "stages", namespaced=False, singular="stage")


log = logging.getLogger("seatrial.controllers")


def serve_stages(store: Store) -> None:
    """Register Stage with a store, unless a CustomResourceDefinition serves it already."""
    if store.kinds.named(STAGE.api_version, STAGE.kind) is None:
        store.kinds.add(STAGE)
        store.rules.checks[STAGE.group_kind] = _causes
        store.definitions.published[STAGE.group_kind] = STAGE_SCHEMA


def usable_stages(store: Store, reported: set[str]) -> list[tuple[Document, Stage]]:
    """The valid Stages of a store; the others are reported once and ignored."""
    found: list[tuple[Document, Stage]] = []
    for stored in store.list(STAGE):
        document = stored.document()
        try:
            found.append((document, read_stage(document)))
        except ConfigError as error:
            if str(error) not in reported:
                reported.add(str(error))
                log.warning("%s; the Stage is ignored", error)
    return found


def _causes(document: Document) -> list[Cause]:
    try:
        read_stage(document)
    except ConfigError as error:
        return [Cause(error.field, f"Invalid value: {error.why}")]
    return []
