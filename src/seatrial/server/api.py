"""The Kubernetes API: from a path to the endpoint that answers it."""

from collections.abc import Callable, Sequence
from functools import partial

import seatrial
from seatrial.model.documents import encode
from seatrial.model.errors import NotAcceptable
from seatrial.server.auth.authentication import Identities
from seatrial.server.authorization.authorizer import AlwaysAllow, Authorizer
from seatrial.server.encoding.negotiation import clauses
from seatrial.server.extension_points import Endpoint, Gate
from seatrial.server.handlers.discovery import Discovery
from seatrial.server.handlers.list import Lists
from seatrial.server.handlers.resources import Resources, not_allowed
from seatrial.server.handlers.reviews import Reviews
from seatrial.server.handlers.subresources import Subresources
from seatrial.server.handlers.watch import Watches
from seatrial.server.messages import Answer, Request, Stream, json_answer
from seatrial.server.metrics import Metrics
from seatrial.server.openapi.v3 import Schemas
from seatrial.server.paths import Target, find_target
from seatrial.server.tables.registry import Tables
from seatrial.server.watch_cache import Feeds
from seatrial.store import Store

READING = ("GET", "HEAD")
KEYS, KEY_SET = "/openid/v1/jwks", "application/jwk-set+json"
UNCHANGED_FOR_AN_HOUR = ((b"cache-control", b"public, max-age=3600"),)


class KubernetesApi:
    """All paths that a kube-apiserver answers."""

    def __init__(
        self,
        store: Store,
        identities: Identities,
        metrics: Metrics,
        gates: Sequence[Gate] = (),
        *,
        authorizer: Authorizer | None = None,
        is_alive: Callable[[], bool] = lambda: True,
    ) -> None:
        """`is_alive` says if workers still run."""
        self.feeds = Feeds(store)
        self._store = store
        self._metrics = metrics
        self._is_alive = is_alive
        self._gates = tuple(gates)
        resources = Resources(store, Lists(store), Watches(store, self.feeds, gates), Tables(store), gates)
        self._resources = resources
        self._subresources = Subresources(resources, identities)
        self._reviews = Reviews(store, identities, authorizer or AlwaysAllow())
        self._discovery = Discovery(store.kinds)
        self._schemas = Schemas(store)
        self._plain: dict[str, Endpoint] = {
            "/": self._root,
            "/version": self._version,
            "/metrics": self._tell_metrics,
            "/api": self._discovery.core_versions,
            "/apis": self._discovery.groups,
            "/openapi/v3": self._schemas.index,
            "/openapi/v2": self._schemas.second_version,
            "/.well-known/openid-configuration": self._issuer,
            KEYS: self._issuer_keys,
        }

    def find(self, method: str, path: str) -> Endpoint | None:
        """The endpoint for a path; None if no endpoint serves it."""
        target = find_target(self._store.kinds, path)
        if target is not None:
            return partial(self._serve, target)
        endpoint = self._plain.get(path.rstrip("/") or "/") or self._find_prefixed(path)
        if endpoint is None and not self._is_served(path):
            return self._no_page
        return endpoint if endpoint is None or method in READING else self._refuse

    def _is_served(self, path: str) -> bool:
        """Whether a path is below a version of a group that is served."""
        first, *rest = path.strip("/").split("/")
        if first not in ("api", "apis") or len(rest) < 2:
            return False
        group, version = ("", rest[0]) if first == "api" else (rest[0], rest[1])
        return any((kind.group, kind.version) == (group, version) for kind in self._store.kinds)

    async def _no_page(self, request: Request) -> Answer:
        return Answer(b"404 page not found\n", 404, "text/plain; charset=utf-8")

    def _find_prefixed(self, path: str) -> Endpoint | None:
        first, *rest = path.strip("/").split("/")
        if first in ("healthz", "livez", "readyz"):
            return self._health
        if first == "api" and len(rest) == 1:
            return partial(self._discovery.resources, group="", version=rest[0])
        if first == "apis" and len(rest) == 1 and any(kind.group == rest[0] for kind in self._store.kinds):
            return partial(self._discovery.group, name=rest[0])
        if first == "apis" and len(rest) == 2 and self._is_served(path):
            return partial(self._discovery.resources, group=rest[0], version=rest[1])
        if first == "openapi" and rest[:1] == ["v3"]:
            return partial(self._schemas.group_version, path="/".join(rest[1:]))
        return None

    async def _serve(self, target: Target, request: Request) -> Answer | Stream:
        try:
            return await self._carry_out(target, request)
        finally:
            for gate in self._gates:
                gate.left(request, target)

    async def _carry_out(self, target: Target, request: Request) -> Answer | Stream:
        if warning := self._store.definitions.deprecation(target.kind):
            request.warnings.append(warning)
        if target.subresource:
            return await self._subresources.serve(request, target)
        review = self._reviews.find(target.kind)
        if review is not None:
            return await review(request, target)
        if target.kind.kind == "Binding" and not target.kind.group:
            return await self._subresources.bind_collection(request, target)
        return await self._resources.serve(request, target)

    async def _refuse(self, request: Request) -> Answer:
        raise not_allowed()

    async def _root(self, request: Request) -> Answer:
        groups = dict.fromkeys(kind.group for kind in self._store.kinds if kind.group)
        versions = dict.fromkeys(f"/apis/{kind.api_version}" for kind in self._store.kinds if kind.group)
        paths = ["/api", "/api/v1", "/apis", *(f"/apis/{group}" for group in groups), *versions]
        return json_answer(
            {"paths": sorted((*paths, "/healthz", "/livez", "/metrics", "/openapi/v3", "/readyz", "/version"))}
        )

    async def _version(self, request: Request) -> Answer:
        release = self._store.release
        major, minor = release.removeprefix("v").split(".")[:2]
        return json_answer(
            {
                "major": major,
                "minor": minor,
                "emulationMajor": major,
                "emulationMinor": minor,
                "minCompatibilityMajor": major,
                "minCompatibilityMinor": str(int(minor) - 1),
                "gitVersion": f"{release}+seatrial-{seatrial.__version__}",
                "gitCommit": "",
                "gitTreeState": "clean",
                "buildDate": "1970-01-01T00:00:00Z",
                "goVersion": "none",
                "compiler": "python",
                "platform": "any",
            }
        )

    async def _issuer(self, request: Request) -> Answer:
        keys_at = f"https://{request.header('host')}{KEYS}"
        document = encode(self._subresources.tokens.discovery(keys_at))
        return Answer(document, headers=UNCHANGED_FOR_AN_HOUR, newline=False)

    async def _issuer_keys(self, request: Request) -> Answer:
        accepted = [clause.media for clause in clauses(request.header("accept"))]
        if accepted and not {KEY_SET, "*/*", "application/*"} & set(accepted):
            why = f"406: Not Acceptable\n\nAvailable representations: {KEY_SET}"
            raise NotAcceptable(why, detailed=True)
        keys = encode(self._subresources.tokens.key_set())
        return Answer(keys, content_type=KEY_SET, headers=UNCHANGED_FOR_AN_HOUR, newline=False)

    async def _health(self, request: Request) -> Answer:
        name = request.path.strip("/").split("/")[0]
        failure = self._store.failure
        if failure is not None or not self._is_alive():
            store = f"[-]store failed: {failure}" if failure is not None else "[+]store ok"
            workers = "[+]workers ok" if self._is_alive() else "[-]workers failed: they have stopped"
            text = f"[+]ping ok\n{store}\n{workers}\n{name} check failed\n"
            return Answer(text.encode(), 500, content_type="text/plain; charset=utf-8")
        verbose = f"[+]ping ok\n[+]store ok\n{name} check passed\n" if "verbose" in request.query else "ok"
        return Answer(verbose.encode(), content_type="text/plain; charset=utf-8")

    async def _tell_metrics(self, request: Request) -> Answer:
        numbers = {kind.resource: len(self._store.index(kind)) for kind in self._store.kinds if "list" in kind.verbs}
        self._metrics.watchers = self.feeds.watchers
        page = self._metrics.text({name: number for name, number in numbers.items() if number})
        return Answer(page.encode(), content_type="text/plain; version=0.0.4; charset=utf-8")
