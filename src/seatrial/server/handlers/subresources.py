"""Subresources: parts of an object with a path of their own, and actions such as binding and eviction."""

from collections.abc import Awaitable, Callable

from seatrial.model.documents import Document
from seatrial.model.errors import BadRequest, NotFound
from seatrial.model.kinds import Kind
from seatrial.server.auth.authentication import Identities
from seatrial.server.auth.tokens import issue_token
from seatrial.server.handlers import options
from seatrial.server.handlers import request_bodies as bodies
from seatrial.server.handlers.resources import Resources, not_allowed
from seatrial.server.handlers.scale import Scales
from seatrial.server.handlers.service_proxy import ServiceProxy
from seatrial.server.messages import Answer, Request, Stream, json_answer
from seatrial.server.paths import Target
from seatrial.store.deferral import long_turn

BINDING = Kind("", "v1", "Binding", "bindings")
EVICTION = Kind("policy", "v1", "Eviction", "evictions")
PARTS = frozenset(("status", "ephemeralcontainers", "resize", "approval", "finalize"))
"""Subresources that are a part of the object and are read, replaced and patched like it."""

Action = Callable[[Request, Target], Awaitable[Answer | Stream]]


class Subresources:
    """Answers requests for subresources."""

    def __init__(self, resources: Resources, identities: Identities) -> None:
        self._resources = resources
        self._store = resources.store
        self.tokens = identities.know_accounts(self._store)
        self._scales = Scales(resources)
        self._proxy = ServiceProxy(self._store)
        self._actions: dict[str, Action] = {
            "scale": self._scales.serve,
            "binding": self._bind,
            "eviction": self._evict,
            "token": self._token,
            "log": self._log,
            **dict.fromkeys(("exec", "attach", "portforward", "proxy"), self._connect),
        }

    async def serve(self, request: Request, target: Target) -> Answer | Stream:
        """Carry out a request on a subresource."""
        if target.subresource not in target.kind.subresources:
            raise NotFound("the server could not find the requested resource", detailed=True)
        if target.subresource in PARTS:
            return await self._part(request, target)
        return await self._actions[target.subresource](request, target)

    async def bind_collection(self, request: Request, target: Target) -> Answer:
        """POST to the bindings of a namespace: the binding names its pod itself."""
        if request.method != "POST" or not target.namespace:
            raise not_allowed()
        await self._resources.pass_gates(request, target)
        return self._bound(request, target.namespace, "")

    async def _part(self, request: Request, target: Target) -> Answer | Stream:
        if request.method in ("GET", "HEAD") and target.subresource != "finalize":
            whole = Target(target.kind, target.namespace, target.name)
            return await self._resources.serve(request, whole)
        await self._resources.pass_gates(request, target)
        if request.method == "PUT":
            return self._resources.update(request, target, target.subresource)
        if request.method == "PATCH" and target.subresource != "finalize":
            return self._resources.patch(request, target, target.subresource)
        raise not_allowed()

    async def _bind(self, request: Request, target: Target) -> Answer:
        if request.method != "POST":
            raise not_allowed()
        await self._resources.pass_gates(request, target)
        return self._bound(request, target.namespace, target.name)

    def _bound(self, request: Request, namespace: str, name: str) -> Answer:
        document = bodies.read_object(request, BINDING)
        metadata, node = _mapping(document, "metadata"), _mapping(document, "target")
        named = metadata.get("name") or name
        if not isinstance(named, str) or (name and named != name):
            raise BadRequest(f"name in URL does not match name in Binding object: {name} != {named}")
        if (metadata.get("namespace") or namespace) != namespace:
            raise BadRequest("namespace in URL does not match namespace in Binding object")
        if node.get("kind") not in (None, "", "Node"):
            raise BadRequest(f'target.kind: Unsupported value: "{node["kind"]}": supported values: "Node", "<empty>"')
        if not isinstance(node.get("name") or "", str) or not node.get("name"):
            raise BadRequest("target.name: Required value")
        self._store.bind(
            namespace,
            named,
            node["name"],
            writer=request.user.writer,
            annotations=_mapping(metadata, "annotations"),
            labels=_mapping(metadata, "labels"),
            uid=str(metadata.get("uid") or ""),
            revision=str(metadata.get("resourceVersion") or ""),
            dry_run=options.is_dry_run(request),
        )
        status = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201}
        return json_answer(status, 201)

    async def _evict(self, request: Request, target: Target) -> Answer:
        if request.method != "POST":
            raise not_allowed()
        await self._resources.pass_gates(request, target)
        document = bodies.read_object(request, EVICTION)
        name = _mapping(document, "metadata").get("name") or target.name
        if name != target.name:
            raise BadRequest("name in URL does not match name in Eviction object")
        chosen = options.delete_options(request, _mapping(document, "deleteOptions"))
        # The budget is charged before the pod is deleted: this must not be done twice.
        with long_turn():
            self._store.evict(target.namespace, target.name, writer=request.user.writer, options=chosen)
        status = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201}
        return json_answer(status, 201)

    async def _token(self, request: Request, target: Target) -> Answer:
        if request.method != "POST":
            raise not_allowed()
        account = self._store.get(target.kind, target.name, target.namespace).document()
        return json_answer(issue_token(self.tokens, self._store, account, request), 201)

    async def _log(self, request: Request, target: Target) -> Answer:
        self._store.get(target.kind, target.name, target.namespace)
        raise BadRequest(f'pod "{target.name}" is simulated: nothing runs in it, so it has no logs')

    async def _connect(self, request: Request, target: Target) -> Answer:
        if target.kind.group_kind == ("", "Service"):
            await self._resources.pass_gates(request, target)
            return await self._proxy.serve(request, target)
        self._store.get(target.kind, target.name, target.namespace)
        what = f'{target.kind.kind.lower()} "{target.name}" is simulated'
        raise BadRequest(f"{what}: nothing runs there, so there is nothing to {target.subresource} to")


def _mapping(document: Document, key: str) -> Document:
    found = document.get(key)
    if found is None:
        return {}
    if not isinstance(found, dict):
        raise BadRequest(f"{key}: expected an object")
    return found
