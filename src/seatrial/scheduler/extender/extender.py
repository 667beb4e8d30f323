"""Extenders: HTTP webhooks that are called after the plugins.

The `Transport` that sends the requests is an argument; `http_transport` is the real one.
Upstream: pkg/scheduler/extender.go, schedule_one.go (findNodesThatPassExtenders, prioritizeNodes, extendersBinding),
v1.36.3.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol

from seatrial.model.documents import decode, encode
from seatrial.model.times import SECOND
from seatrial.scheduler.cache.node_info import NodeInfo
from seatrial.scheduler.cache.pod_info import PodInfo
from seatrial.scheduler.config import Extender
from seatrial.scheduler.framework.status import SUCCESS, Status, error, unresolvable, unschedulable
from seatrial.scheduler.preemption.candidates import Victims
from seatrial.scheduler.schedule_one.extenders import Candidates, ExtenderFailed
from seatrial.scheduler.schedule_one.select_host import Names, Places, TieBreak

DEFAULT_TIMEOUT = 5 * SECOND
SCORE_FACTOR = 10
"""Extenders score up to 10, plugins up to 100."""


class TransportError(Exception):
    """The extender could not be reached, or did not answer in time."""


class Transport(Protocol):
    """Sends a request to an extender; `http_transport` implements it."""

    def post(self, extender: Extender, url: str, body: bytes, timeout: int) -> tuple[int, bytes]:
        """Status code and body of the answer; TransportError if none arrives within `timeout` microseconds."""
        ...


class Objects(Protocol):
    """The encoded objects that are sent to extenders."""

    def pod(self, pod: PodInfo) -> bytes: ...
    def node(self, name: str) -> bytes: ...
    def pods_on(self, node: str) -> Mapping[str, PodInfo] | None:
        """The pods of a node by uid; None without such a node."""
        ...


class HttpExtender:
    """One extender of the configuration."""

    def __init__(self, settings: Extender, transport: Transport, objects: Objects) -> None:
        self.settings = settings
        self._transport = transport
        self._objects = objects

    @property
    def name(self) -> str:
        return self.settings.url_prefix

    def is_interested(self, pod: PodInfo) -> bool:
        """Whether the extender looks after a resource the pod names; one that manages none looks at all pods."""
        managed = self.settings.managed_resources
        if not managed:
            return True
        containers = (*(pod.spec.get("containers") or ()), *(pod.spec.get("initContainers") or ()))
        named = (c.get("resources") or {} for c in containers)
        return any(r in (n.get("requests") or {}) or r in (n.get("limits") or {}) for n in named for r in managed)

    def filter(self, pod: PodInfo, nodes: Candidates) -> tuple[Candidates, dict[str, Status], Any]:
        """The nodes left, why others are not, and the answer as it came."""
        answer = self._send(self.settings.filter_verb, self._args(pod, nodes))
        self._check_error(answer)
        hopeless = self._texts(answer, "FailedAndUnresolvableNodes")
        failed = self._texts(answer, "FailedNodes")
        statuses = {node: unresolvable(why) for node, why in hopeless.items()}
        statuses |= {node: unschedulable(why) for node, why in failed.items() if node not in hopeless}
        return self._left(answer, nodes), statuses, answer

    def prioritize(self, pod: PodInfo, nodes: Candidates) -> tuple[dict[str, int], Any]:
        """Weighted scores by node, and the answer as it came."""
        answer = self._send(self.settings.prioritize_verb, self._args(pod, nodes))
        factor = self.settings.weight * SCORE_FACTOR
        scores: dict[str, int] = {}
        for entry in self._listed(answer):
            host, score = _field(entry, "Host"), _field(entry, "Score") or 0
            if not isinstance(host, str) or not isinstance(score, int):
                raise self._misunderstood(entry)
            scores[host] = scores.get(host, 0) + score * factor
        return scores, answer

    def bind(self, pod: PodInfo, node: str) -> Any:
        """Binds a pod; ExtenderFailed says why not."""
        args = {"PodName": pod.name, "PodNamespace": pod.namespace, "PodUID": pod.uid, "Node": node}
        answer = self._send(self.settings.bind_verb, encode(args))
        self._check_error(answer)
        return answer

    def preempt(self, pod: PodInfo, victims: Mapping[str, Victims]) -> tuple[dict[str, Victims], Any]:
        """The candidates left, and the answer as it came."""
        answer = self._send(self.settings.preempt_verb, self._preemption_args(pod, victims))
        left: dict[str, Victims] = {}
        for node, meta in self._mapped(answer, "NodeNameToMetaVictims").items():
            there = self._objects.pods_on(node)
            if there is None:
                raise ExtenderFailed(f'nodeinfo not found for node name "{node}"')
            uids = [str(_field(entry, "UID")) for entry in self._listed(_field(meta, "Pods"))]
            missing = [uid for uid in uids if uid not in there]
            if missing:
                raise ExtenderFailed(
                    f"extender: {self.name} claims to preempt pod (UID: {{{missing[0]}}}) on node: {node}, "
                    "but the pod is not found on that node"
                )
            left[node] = Victims(tuple(there[uid] for uid in uids), int(_field(meta, "NumPDBViolations") or 0))
        return left, answer

    def _left(self, answer: Any, nodes: Candidates) -> Candidates:
        names = _field(answer, "NodeNames")
        if self.settings.node_cache_capable and names is not None:
            known = set(nodes.names)
            for name in self._listed(names):
                if name not in known:
                    claim = f'extender "{self.name}" claims a filtered node "{name}"'
                    raise ExtenderFailed(f"{claim} which is not found in the input node list")
            return nodes.picked(names)
        items = self._listed(_field(_field(answer, "Nodes"), "items"))
        return Candidates([self._node_name(item) for item in items], items)

    def _node_name(self, item: Any) -> str:
        """The name of a Node object; ExtenderFailed if it is not one. The extender need not have been sent the node."""
        try:
            name = NodeInfo.read(item).name
        except (AttributeError, TypeError, ValueError) as problem:
            raise self._misunderstood(item) from problem
        if not isinstance(name, str):
            raise self._misunderstood(item)
        return name

    def _check_error(self, answer: Any) -> None:
        if not isinstance(answer, dict):
            raise self._misunderstood(answer)
        if _field(answer, "Error"):
            raise ExtenderFailed(str(_field(answer, "Error")))

    def _listed(self, value: Any) -> list[Any]:
        if value is not None and not isinstance(value, list):
            raise self._misunderstood(value)
        return value or []

    def _mapped(self, answer: Any, name: str) -> dict[str, Any]:
        value = _field(answer, name)
        if value is not None and not isinstance(value, dict):
            raise self._misunderstood(value)
        return value or {}

    def _texts(self, answer: Any, name: str) -> dict[str, str]:
        return {key: str(value) for key, value in self._mapped(answer, name).items()}

    def _misunderstood(self, value: Any) -> ExtenderFailed:
        return ExtenderFailed(f"extender {self.name}: cannot make sense of {encode(value).decode()[:200]}")

    def _args(self, pod: PodInfo, nodes: Candidates) -> bytes:
        subject = self._objects.pod(pod)
        if self.settings.node_cache_capable:
            return b'{"Pod":%s,"Nodes":null,"NodeNames":%s}' % (subject, encode(list(nodes.names)))
        if nodes.documents is not None:
            items = b",".join(encode(document) for document in nodes.documents)
        else:
            items = b",".join(self._objects.node(name) for name in nodes.names)
        return b'{"Pod":%s,"Nodes":{"metadata":{},"items":[%s]},"NodeNames":null}' % (subject, items)

    def _preemption_args(self, pod: PodInfo, victims: Mapping[str, Victims]) -> bytes:
        meta = self.settings.node_cache_capable
        parts = []
        for node, leaving in victims.items():
            listed = b",".join(encode({"UID": p.uid}) if meta else self._objects.pod(p) for p in leaving.pods)
            parts.append(b'%s:{"Pods":[%s],"NumPDBViolations":%d}' % (encode(node), listed, leaving.violations))
        full, short = (b"null", b"{%s}" % b",".join(parts)) if meta else (b"{%s}" % b",".join(parts), b"null")
        return b'{"Pod":%s,"NodeNameToVictims":%s,"NodeNameToMetaVictims":%s}' % (self._objects.pod(pod), full, short)

    def _send(self, verb: str, body: bytes) -> Any:
        url = f"{self.settings.url_prefix.rstrip('/')}/{verb}"
        try:
            code, answer = self._transport.post(self.settings, url, body, self.settings.http_timeout or DEFAULT_TIMEOUT)
            if code != 200:
                raise ExtenderFailed(f"failed {verb} with extender at URL {url}, code {code}")
            return decode(answer)
        except TransportError as failure:
            raise ExtenderFailed(f'Post "{url}": {failure}') from failure
        except ValueError as failure:
            raise ExtenderFailed(f"{url}: {failure}") from failure


class ExtenderSet:
    """All extenders as one, those that may be ignored last; implements `schedule_one.extenders.Extenders`."""

    def __init__(self, extenders: Iterable[HttpExtender]) -> None:
        self._all = sorted(extenders, key=lambda extender: extender.settings.ignorable)
        self.has_filter = any(extender.settings.filter_verb for extender in self._all)
        self.has_prioritize = any(extender.settings.prioritize_verb for extender in self._all)
        self.answers: dict[str, list[tuple[str, Any]]] = {}
        """What was answered in the attempt under way: by verb, (url prefix, answer)."""
        self.scored = False
        """Whether any extender had a say in the scores of the attempt under way."""

    def begin(self) -> None:
        """A new attempt begins."""
        self.answers, self.scored = {}, False

    def filter(self, pod: PodInfo, nodes: Candidates) -> tuple[Candidates, Mapping[str, Status]]:
        """The nodes left, in order, and why others are not; ExtenderFailed where one that counts fails."""
        rejected: dict[str, Status] = {}
        for extender in self._interested(pod):
            if not nodes.names:
                break
            if not extender.settings.filter_verb:
                continue
            answered = self._ignoring(extender, lambda e=extender, n=nodes: e.filter(pod, n))  # type: ignore[misc]
            if answered is not None:
                nodes, statuses, answer = answered
                rejected |= statuses
                self._keep("filter", extender, answer)
        return nodes, rejected

    def prioritize(self, pod: PodInfo, nodes: Candidates) -> Mapping[str, int]:
        """Weighted scores by node; an extender that fails gives none."""
        totals: dict[str, int] = {}
        for extender in self._interested(pod):
            self.scored = True
            if not extender.settings.prioritize_verb:
                continue
            try:
                scores, answer = extender.prioritize(pod, nodes)
            except ExtenderFailed:
                continue
            self._keep("prioritize", extender, answer)
            for node, score in scores.items():
                totals[node] = totals.get(node, 0) + score
        return totals

    def preempt(self, pod: PodInfo, candidates: Mapping[str, Victims]) -> Mapping[str, Victims]:
        """The preemption candidates left, by node."""
        for extender in self._interested(pod):
            if not extender.settings.preempt_verb:
                continue
            answered = self._ignoring(extender, lambda e=extender, c=candidates: e.preempt(pod, c))  # type: ignore[misc]
            if answered is None:
                continue
            left, answer = answered
            self._keep("preempt", extender, answer)
            for node in [node for node, victims in left.items() if not victims.pods]:
                if not extender.settings.ignorable:
                    raise ExtenderFailed(f'expected at least one victim pod on node "{node}"')
                del left[node]
            candidates = left
            if not candidates:
                break
        return candidates

    def binds(self, pod: PodInfo) -> bool:
        """Whether an extender binds this pod."""
        return any(extender.settings.bind_verb for extender in self._interested(pod))

    def bind(self, pod: PodInfo, node: str) -> Status | None:
        """How the extender that binds did it; None where no extender binds this pod."""
        for extender in self._interested(pod):
            if not extender.settings.bind_verb:
                continue
            try:
                self._keep("bind", extender, extender.bind(pod, node))
            except ExtenderFailed as failure:
                if extender.settings.ignorable:
                    continue
                return error(str(failure))
            return SUCCESS
        return None

    def _interested(self, pod: PodInfo) -> list[HttpExtender]:
        return [extender for extender in self._all if extender.is_interested(pod)]

    def _ignoring(self, extender: HttpExtender, ask: Callable[[], Any]) -> Any:
        try:
            return ask()
        except ExtenderFailed:
            if not extender.settings.ignorable:
                raise
            return None

    def _keep(self, verb: str, extender: HttpExtender, answer: Any) -> None:
        self.answers.setdefault(verb, []).append((extender.name, answer))


class ExtenderTieBreak(TieBreak):
    """Upstream breaks ties at random where an extender has scored; here the first by name is taken."""

    def __init__(self, extenders: ExtenderSet, rule: str, dice: Any = None) -> None:
        super().__init__(rule, dice)
        self._extenders = extenders
        self._by_name = TieBreak("name")

    def among(self, tied: Places, names: Names) -> int:
        if self.rule == "upstream" and self._extenders.scored:
            return self._by_name.among(tied, names)
        return super().among(tied, names)


def tie_break_for(rule: str, dice: Any, extenders: ExtenderSet | None) -> TieBreak:
    """Settles ties by a rule, with or without extenders."""
    return TieBreak(rule, dice) if extenders is None else ExtenderTieBreak(extenders, rule, dice)


def _field(document: Any, name: str) -> Any:
    """A field as Go's decoder finds it: the exact name, else whatever differs in case only."""
    if not isinstance(document, dict):
        return None
    if name in document:
        return document[name]
    return next((value for key, value in document.items() if key.lower() == name.lower()), None)
