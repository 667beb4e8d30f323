"""Read-only views of pods and nodes for users' plugins: a plugin answers questions and cannot change the cluster.

In-tree plugins are trusted and get the objects themselves, so that these views cost them nothing. A view is of the same
class as the object it shows, or of a subclass; every attempt to write raises, which fails the attempt of the pod.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, NoReturn, overload

import msgspec
import numpy as np
from numpy.typing import NDArray

from seatrial.scheduler.cache.given_nodes import GivenNodes
from seatrial.scheduler.cache.node_info import NodeInfo
from seatrial.scheduler.cache.node_table import Nodes, NodeTable, S
from seatrial.scheduler.cache.pod_info import PodInfo, PodShape, PodSpec
from seatrial.scheduler.cache.pod_terms import HostPort, Taint

READ_ONLY = "read-only: a plugin cannot change what it is asked about"


def read_only(value: Any) -> Any:
    """The view of an argument of a plugin; other values as they are."""
    if isinstance(value, PodInfo):
        return read_only_pod(value)
    if isinstance(value, NodeInfo):
        return ReadOnlyNode(value)
    if isinstance(value, GivenNodes):
        return GivenNodes(value.table, [ReadOnlyNode(node) for node in value.infos])
    return ReadOnlyNodes(value) if isinstance(value, Nodes) else value


def _refuse(self: object, *_: object, **__: object) -> NoReturn:
    raise TypeError(READ_ONLY)


class ReadOnlyDict(dict[str, Any]):
    """A dict of a pod's spec."""

    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse


class ReadOnlyList(list[Any]):
    """A list of a pod's spec."""

    __setitem__ = __delitem__ = __iadd__ = __imul__ = _refuse
    append = clear = extend = insert = pop = remove = reverse = sort = _refuse


def _frozen(value: Any) -> Any:
    if isinstance(value, dict):
        return ReadOnlyDict((key, _frozen(inner)) for key, inner in value.items())
    return ReadOnlyList(map(_frozen, value)) if isinstance(value, list) else value


class ReadOnlyShape(PodShape):
    """A shape with a spec that cannot be changed; made once per shape."""

    def __init__(self, shape: PodShape) -> None:
        labels, spec = MappingProxyType(dict(shape.labels)), PodSpec(_frozen(shape.spec))
        super().__init__(shape.namespace, labels, spec, shape.owner)
        self.is_complete = True

    def __setattr__(self, name: str, value: object) -> None:
        if "is_complete" in self.__dict__:
            raise AttributeError(f"{name} of a pod is {READ_ONLY}")
        super().__setattr__(name, value)


def read_only_pod(pod: PodInfo) -> PodInfo:
    """A pod whose spec, labels and annotations cannot be changed."""
    shape = pod.shape
    if isinstance(shape, ReadOnlyShape):
        return pod
    view = shape.notes.get(ReadOnlyShape)
    if view is None:
        view = shape.notes[ReadOnlyShape] = ReadOnlyShape(shape)
    requests = pod.requests
    if requests.scalars:
        requests = replace(requests, scalars=MappingProxyType(requests.scalars))
    return msgspec.structs.replace(
        pod,
        shape=view,
        requests=requests,
        annotations=MappingProxyType(pod.annotations),
        status=MappingProxyType(pod.status),
    )


class ReadOnlyPods(Sequence[PodInfo]):
    """The pods of a node."""

    __slots__ = ("_pods",)

    def __init__(self, pods: Sequence[PodInfo]) -> None:
        self._pods = pods

    def __len__(self) -> int:
        return len(self._pods)

    def __iter__(self) -> Iterator[PodInfo]:
        return map(read_only_pod, self._pods)

    @overload
    def __getitem__(self, position: int) -> PodInfo: ...
    @overload
    def __getitem__(self, position: slice) -> Sequence[PodInfo]: ...
    def __getitem__(self, position: int | slice) -> PodInfo | Sequence[PodInfo]:
        if isinstance(position, slice):
            return [read_only_pod(pod) for pod in self._pods[position]]
        return read_only_pod(self._pods[position])

    def __repr__(self) -> str:
        return repr([pod.key for pod in self._pods])


class ReadOnlyNode(NodeInfo):
    """A node with its pods; it follows the node that it shows."""

    __slots__ = ("_node",)
    _node: NodeInfo

    def __init__(self, node: NodeInfo) -> None:
        object.__setattr__(self, "_node", node._node if isinstance(node, ReadOnlyNode) else node)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{name} of node {self.name} is {READ_ONLY}")

    name: str = property(lambda self: self._node.name)  # type: ignore[assignment]
    uid: str = property(lambda self: self._node.uid)  # type: ignore[assignment]
    unschedulable: bool = property(lambda self: self._node.unschedulable)  # type: ignore[assignment]
    taints: tuple[Taint, ...] = property(lambda self: self._node.taints)  # type: ignore[assignment]
    images: tuple[tuple[tuple[str, ...], int], ...] = property(lambda self: self._node.images)  # type: ignore[assignment]
    declared_features: frozenset[str] = property(lambda self: self._node.declared_features)  # type: ignore[assignment]
    labels: Mapping[str, str] = property(lambda self: MappingProxyType(self._node.labels))  # type: ignore[assignment]
    annotations: Mapping[str, str] = property(  # type: ignore[assignment]
        lambda self: MappingProxyType(self._node.annotations)
    )
    allocatable: Mapping[str, int] = property(  # type: ignore[assignment]
        lambda self: MappingProxyType(self._node.allocatable)
    )
    conditions: Mapping[str, str] = property(  # type: ignore[assignment]
        lambda self: MappingProxyType(self._node.conditions)
    )
    pods: list[PodInfo] = property(lambda self: ReadOnlyPods(self._node.pods))  # type: ignore[assignment]
    ports: set[HostPort] = property(lambda self: frozenset(self._node.ports))  # type: ignore[assignment]
    add = _refuse
    remove = _refuse

    def copy(self) -> NodeInfo:
        return self._node.copy()

    def __repr__(self) -> str:
        return f"<node {self.name} with {len(self._node.pods)} pods>"


class ReadOnlyNodes(Nodes):
    """Columns parallel to some nodes; they share their memory with the scheduler's and cannot be written."""

    def __init__(self, nodes: Nodes) -> None:
        self.__dict__.update(nodes.__dict__)
        self._shown = nodes

    @overload
    def __getitem__(self, position: int) -> NodeInfo: ...
    @overload
    def __getitem__(self, position: slice) -> Sequence[NodeInfo]: ...
    def __getitem__(self, position: int | slice) -> NodeInfo | Sequence[NodeInfo]:
        if isinstance(position, slice):
            return [ReadOnlyNode(node) for node in self._shown[position]]
        return ReadOnlyNode(self._shown[position])

    def _pick(self, column: NDArray[S]) -> NDArray[S]:
        return read_only_array(super()._pick(column))

    def _adjusted(self, key: object, column: NDArray[Any], amount: Callable[[PodInfo], int]) -> NDArray[Any]:
        return read_only_array(self._shown._adjusted(key, column, amount))

    put = _refuse
    take_back = _refuse


def read_only_array(column: NDArray[S]) -> NDArray[S]:
    """The same numbers, which cannot be written."""
    view = column.view()
    view.flags.writeable = False
    return view


class ReadOnlyTable:
    """The scheduler's table of nodes as a plugin finds it in its handle."""

    _WRITERS = frozenset({"add_node", "update_node", "remove_node", "add_pod", "remove_pod", "update_pod", "refresh"})

    def __init__(self, table: NodeTable) -> None:
        self.__dict__["_table"] = table

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{name} of the nodes is {READ_ONLY}")

    def __getattr__(self, name: str) -> Any:
        if name in self._WRITERS:
            raise AttributeError(f"{name} of the nodes is {READ_ONLY}")
        value = getattr(self._table, name)
        return (lambda *given: _shown(value(*given))) if callable(value) else _shown(value)


def _shown(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return read_only_array(value)
    if isinstance(value, dict):
        return MappingProxyType(value)
    if isinstance(value, list):
        return tuple(read_only(item) for item in value)
    return read_only(value)


class ReadOnlyHandle:
    """The handle of a user's plugin: everything of it but a writable table of nodes."""

    def __init__(self, handle: Any) -> None:
        self.__dict__.update(_handle=handle, nodes=ReadOnlyTable(handle.nodes))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._handle, name)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{name} of the handle is {READ_ONLY}")
