"""A snapshot as a command takes it: the objects, the order of pods that lost their nodes, and what there is to say."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import overload

from seatrial.model.documents import Document
from seatrial.store.snapshots.formats import read_snapshot
from seatrial.store.snapshots.prices import Prices, priced
from seatrial.store.snapshots.references import missing_references, plural
from seatrial.store.snapshots.unbinding import UNBIND_NONE, Unbind, UnbindOrder, arrival_order, unbind


@dataclass(frozen=True, slots=True, eq=False)
class Snapshot(Sequence[Document]):
    """The objects of a cluster to begin with: a sequence of documents with what goes with them."""

    documents: Sequence[Document] = ()
    arrivals: Mapping[str, int] = field(default_factory=dict)
    """The order of first attempts of pods that lost their nodes, by namespace/name."""
    order: UnbindOrder | None = None
    path: str = ""
    notes: Sequence[str] = ()
    """Sentences about what is missing and what is done about it."""

    @classmethod
    def read(cls, path: Path, which: Unbind = UNBIND_NONE, order: UnbindOrder = "created", seed: int = 0) -> "Snapshot":
        """The objects of a file, their pods without nodes where that is asked for; ConfigError names what is wrong."""
        found = read_snapshot([path], refuse_scenarios=True)
        return cls(found, path=str(path), notes=missing_references(found)).unbound(which, order, seed)

    def unbound(self, which: Unbind, order: UnbindOrder = "created", seed: int = 0) -> "Snapshot":
        """The same with pods that lose their nodes and are scheduled again."""
        if which == UNBIND_NONE:
            return self
        freed = unbind(self.documents, which)
        count = sum(old is not new and old["kind"] == "Pod" for old, new in zip(self.documents, freed, strict=True))
        total = sum(document["kind"] == "Pod" for document in self.documents)
        notes = [*self.notes, f"{count} of {total} {plural('Pod', total)} lose their nodes, order {order}"]
        return replace(self, documents=freed, order=order, notes=notes).with_seed(seed)

    def kubelet_minors(self) -> set[str]:
        """The minor versions of Kubernetes that its nodes report, as `1.36`."""
        infos = (
            (each.get("status") or {}).get("nodeInfo") or {} for each in self.documents if each.get("kind") == "Node"
        )
        versions = (str(info.get("kubeletVersion") or "").removeprefix("v").split(".") for info in infos)
        return {".".join(parts[:2]) for parts in versions if len(parts) > 1}

    def __len__(self) -> int:
        return len(self.documents)

    @overload
    def __getitem__(self, place: int) -> Document: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Document]: ...
    def __getitem__(self, place: int | slice) -> Document | Sequence[Document]:
        return self.documents[place]

    def with_prices(self, prices: Prices) -> "Snapshot":
        """The same with the prices of its nodes."""
        return replace(self, documents=priced(self.documents, prices))

    def with_seed(self, seed: int) -> "Snapshot":
        """The same for another seed, on which the order of arrivals may depend."""
        if self.order is None:
            return self
        return replace(self, arrivals=arrival_order(self.documents, self.order, seed))
