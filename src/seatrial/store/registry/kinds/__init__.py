"""The strategies of all built-in kinds, one record each, and the one that custom resources share."""

from collections.abc import Iterable, Mapping

from seatrial.model.field_selectors import NAMED, SelectableFields, paths
from seatrial.model.kinds import Kind
from seatrial.store.registry.kinds import administration, core, networking, scheduling, storage, workloads
from seatrial.store.registry.strategy import Strategy

BUILT_IN: Mapping[tuple[str, str], Strategy] = {
    **core.STRATEGIES,
    **workloads.STRATEGIES,
    **storage.STRATEGIES,
    **networking.STRATEGIES,
    **scheduling.STRATEGIES,
    **administration.STRATEGIES,
}
"""By group and kind."""
CUSTOM = Strategy(needs_resource_version=True, has_generation=True, status_keeps_metadata=True)
PLAIN = Strategy()
_NAME_AND_NAMESPACE = SelectableFields(
    paths(*NAMED), refusal='"{field}" is not a known field selector: only "metadata.name", "metadata.namespace"'
)


def strategy_of(kind: Kind) -> Strategy:
    """The strategy of a kind; built-in kinds without a record of their own do what most kinds do."""
    return CUSTOM if kind.custom else BUILT_IN.get(kind.group_kind, PLAIN)


def selectable_fields(kind: Kind, declared: Iterable[str] = ()) -> SelectableFields:
    """The fields that selectors on a kind may name; `declared` are the JSON paths of a custom resource definition."""
    if kind.custom:
        return SelectableFields.of_custom_resource(kind.namespaced, declared)
    return strategy_of(kind).selectable_fields or _NAME_AND_NAMESPACE
