"""ClusterRoles with an aggregationRule hold the rules of all ClusterRoles that it selects.

Upstream: pkg/controller/clusterroleaggregation (v1.36).
"""

from collections.abc import Iterable, Mapping
from typing import ClassVar

from seatrial.controllers.framework.controller import Context, Key, Listener, QueueController
from seatrial.model.documents import Document
from seatrial.model.kinds import Kind
from seatrial.model.label_selectors import LabelSelector
from seatrial.store import Change
from seatrial.store.options import Patch, PatchOptions

MANAGER = "clusterrole-aggregation-controller"


class ClusterRoleAggregation(QueueController):
    """Keeps the rules of aggregated ClusterRoles up to date."""

    name: ClassVar[str] = "clusterroleaggregation"

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.kind = context.kind("rbac.authorization.k8s.io/v1", "ClusterRole")

    def watches(self) -> Mapping[Kind, Listener]:
        return {self.kind: self._role_changed}

    def owners(self) -> Iterable[Kind]:
        return [self.kind]

    def sync(self, key: Key) -> None:
        stored = self.store.find(self.kind, key[1])
        if stored is None:
            return
        role = stored.document()
        if role.get("aggregationRule") is None:
            return
        rules = self._selected_rules(role)
        if rules == (role.get("rules") or []):
            return
        applied = {
            "apiVersion": self.kind.api_version,
            "kind": self.kind.kind,
            "metadata": {"name": stored.name},
            "rules": rules,
        }
        options = PatchOptions(field_manager=MANAGER, force=True)
        self.store.patch(self.kind, stored.name, Patch("apply", applied), writer=self.name, options=options)

    def _selected_rules(self, role: Document) -> list[Document]:
        """The rules of the roles that are selected, in the order of selectors and names, each once."""
        rules: list[Document] = []
        for selector in role["aggregationRule"].get("clusterRoleSelectors") or ():
            for other in self.store.list(self.kind, labels=LabelSelector.from_document(selector)):
                if other.name == role["metadata"]["name"]:
                    continue
                rules += [rule for rule in other.document().get("rules") or () if rule not in rules]
        return rules

    def _role_changed(self, change: Change) -> None:
        """Any role may be selected by any other: enqueue all aggregated ones."""
        for stored in self.store.list(self.kind):
            if b'"aggregationRule"' in stored.data:
                self.enqueue((stored.namespace, stored.name))
