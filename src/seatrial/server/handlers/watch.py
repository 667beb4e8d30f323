"""Starts a watch: its first revision and its options.

Upstream: k8s.io/apiserver/pkg/storage/cacher and pkg/apis/meta/internalversion (validation, defaults of ListOptions).
"""

import random
from collections.abc import Sequence

from seatrial.model.errors import Cause, Gone, NotAcceptable
from seatrial.model.kinds import Kind
from seatrial.server.encoding.negotiation import OFFERED, YAML
from seatrial.server.encoding.rendering import Rendering
from seatrial.server.extension_points import Gate
from seatrial.server.handlers.list import parse_revision
from seatrial.server.handlers.options import invalid
from seatrial.server.messages import Request, Stream
from seatrial.server.paths import Target
from seatrial.server.selection import Selection
from seatrial.server.watch_cache import Beginning, Feeds, Watch
from seatrial.store import Store

SHORTEST_DEFAULT = 1800.0
"""Least seconds of a watch without timeoutSeconds; at most twice that, so that clients do not reconnect together."""


class Watches:
    """Answers WATCH requests."""

    def __init__(self, store: Store, feeds: Feeds, gates: Sequence[Gate] = ()) -> None:
        self._store = store
        self._feeds = feeds
        self._gates = tuple(gates)

    def answer(
        self, request: Request, target: Target, kind: Kind, selection: Selection, rendering: Rendering
    ) -> Stream:
        """The stream for a request; `kind` is the one stored."""
        if rendering.form.encoding == YAML:
            # As upstream, YAML has no frames.
            offered = ", ".join(f"{media};stream=watch" for media in OFFERED if media != YAML)
            raise NotAcceptable(f"only the following media types are accepted: {offered}")
        _check(request)
        feed = self._feeds.of(kind)
        bookmarks = request.flag("allowWatchBookmarks")
        seconds = request.number("timeoutSeconds") or SHORTEST_DEFAULT * (1 + random.random())

        async def gates() -> None:
            for gate in self._gates:
                await gate.deliver(request, target)

        watch = Watch(
            feed,
            feed.view(rendering, selection),
            first=self._beginning(request, kind, selection.namespace, bookmarks=bookmarks),
            bookmarks=bookmarks,
            seconds=min(max(seconds, 0), 10**7),
            gates=gates,
        )
        for gate in self._gates:
            gate.watching(request, target, watch)
        return Stream(watch.chunks(), rendering.form.stream_type, close=watch.close)

    def _beginning(self, request: Request, kind: Kind, namespace: str, *, bookmarks: bool) -> Beginning:
        text = request.query.get("resourceVersion", "")
        wanted, now = parse_revision(text), self._store.revision
        if wanted > now:
            raise Gone(f"too old resource version: {wanted} ({now}): the server was restarted")
        asked = request.query.get("sendInitialEvents")
        # As upstream, a watch without a resourceVersion that allows bookmarks gets one after its initial events.
        initial = request.flag("sendInitialEvents") if asked is not None else not wanted
        if not initial:
            return Beginning(changes=tuple(self._store.changes(wanted, kind)) if wanted else ())
        objects = self._store.list(kind, namespace)
        return Beginning(objects=objects, end_revision=now if bookmarks else None)


def _check(request: Request) -> None:
    query = request.query
    match = query.get("resourceVersionMatch", "")
    texts: list[tuple[str, str, str]] = []
    forbidden = "FieldValueForbidden"
    if "sendInitialEvents" in query and match != "NotOlderThan":
        why = "Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"
        texts.append(("resourceVersionMatch", why, forbidden))
    if match and "sendInitialEvents" not in query:
        why = "Forbidden: resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided"
        texts.append(("resourceVersionMatch", why, forbidden))
    if match not in ("", "NotOlderThan"):
        why = f'Unsupported value: "{match}": supported values: "NotOlderThan"'
        texts.append(("resourceVersionMatch", why, "FieldValueNotSupported"))
    if texts:
        raise invalid("ListOptions", [Cause(field, why, reason) for field, why, reason in texts])
