"""The two sides of a comparison: a server with a real kube-scheduler, and our scheduler in this process."""

import http.client
import json
import re
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import ThreadingHTTPServer

from seatrial.clock.virtual import Clock
from seatrial.model.builtin import builtin_kinds
from seatrial.scenario.cluster import follow, furnish
from seatrial.scheduler.config import load_configuration
from seatrial.scheduler.schedule_one.recorder import ListRecorder
from seatrial.scheduler.scheduler import Scheduler
from seatrial.scheduler.versions import Version
from seatrial.store.admission import StandardAdmission
from seatrial.store.objects import Change
from seatrial.store.options import DeleteOptions
from seatrial.store.store import Store
from tests.extender_server import handler
from tests.known_kinds import known_kind
from tests.outside.churn import RealScheduler, merge
from tests.outside.whole_runs.api import Api
from tests.outside.whole_runs.observing import Observation, Versions, observe
from tests.outside.whole_runs.shape import Answer, Document, Operation, Shape

HEAD: Document = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
QUIET = 3
"""How often in a row nothing must have changed."""
ATTEMPT = re.compile(r'"Attempting to schedule pod".* pod="default/([^"]+)"')


def gates_of(shape: Shape, version: Version) -> dict[str, bool]:
    """The gates that both schedulers are started with: batches are the matter of their own shapes."""
    batching = "OpportunisticBatching"
    return {**({batching: False} if batching in version.gates else {}), **shape.gates}


class PodWatch:
    """Reads the versions of all pods of a server as they come."""

    def __init__(self, url: str) -> None:
        self.versions = Versions()
        self._connection = http.client.HTTPConnection(url.removeprefix("http://"), timeout=3600)
        self._connection.request("GET", "/api/v1/pods?watch=true&allowWatchBookmarks=false&resourceVersion=0")
        self._answer = self._connection.getresponse()
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        try:
            for line in self._answer:
                event = json.loads(line)
                if event["type"] in ("ADDED", "MODIFIED"):
                    self.versions.add(event["object"])
        except (OSError, ValueError, http.client.HTTPException, AttributeError):
            return

    def close(self) -> None:
        if self._connection.sock is not None:
            self._connection.sock.shutdown(2)
        self._connection.close()
        self._thread.join(5)


class ServedSide:
    """A server and the scheduler that works on it."""

    def __init__(self, url: str, scheduler: RealScheduler, backing_off: int = 0) -> None:
        self.api = Api(url)
        self._scheduler, self._backing_off = scheduler, backing_off
        self._watch = PodWatch(url)

    def carry_out(self, operation: Operation) -> Document:
        return self.api.carry_out(operation)

    def rest(self) -> None:
        """Wait until neither the scheduler nor what it writes has changed for a moment."""
        last: object = None
        quiet = 0
        end = time.monotonic() + 60
        while quiet < QUIET:
            assert time.monotonic() < end, "the server does not come to rest"
            time.sleep(0.01)
            counts = self._scheduler.counts()
            written = [self.api.call("GET", f"/api/v1/{kind}")["items"] for kind in ("pods", "events")]
            waiting = sum(value for name, value in counts.items() if "pending_pods" in name)
            now = counts, written
            quiet = quiet + 1 if now == last and waiting <= self._backing_off else 0
            last = now

    def observe(self) -> Observation:
        pods, events = self.api.listed("v1", "Pod"), self.api.listed("v1", "Event")
        return observe(pods, events, self._attempts(), self._watch.versions)

    def _attempts(self) -> Mapping[str, int]:
        return Counter(ATTEMPT.findall(self._scheduler.log))

    def close(self) -> None:
        self._watch.close()
        self.api.close()


class OurSide:
    """Our scheduler on a store that is a copy of the server's objects."""

    def __init__(self, shape: Shape, config: Document, version: Version) -> None:
        self.clock = Clock(time.time_ns() // 1000)
        self.store = Store(builtin_kinds(), self.clock, admission=StandardAdmission())
        follow(self.store, version)
        furnish(self.store)
        self._versions = Versions()
        self.store.subscribe(self._on_pod, [known_kind(self.store.kinds, "v1", "Pod")])
        self.recorder = ListRecorder()
        configuration = load_configuration({**HEAD, **config}, gates=gates_of(shape, version), version=version)
        self.scheduler = Scheduler(self.store, self.clock, configuration, recorder=self.recorder)
        self.scheduler.start()

    def carry_out(self, operation: Operation, answer: Document) -> None:
        """Write what the server has made of an operation."""
        kind = known_kind(self.store.kinds, operation.api_version, operation.kind)
        namespace = "default" if kind.namespaced else ""
        self.clock.advance(time.time_ns() // 1000)
        if operation.verb == "create":
            self.store.load([answer], writer="user:test")
        elif operation.verb == "delete":
            options = DeleteOptions(grace_period_seconds=0)
            self.store.delete(kind, operation.name, writer="user:test", namespace=namespace, options=options)
        else:
            self.store.modify(
                kind,
                operation.name,
                lambda document: _patch(document, operation, answer),
                writer="user:test",
                namespace=namespace,
                subresource=operation.subresource,
            )

    def rest(self) -> None:
        """Do all that is due by now, timers in their order."""
        now = time.time_ns() // 1000
        for _ in range(1000):
            if self.scheduler.has_work():
                self.scheduler.schedule_one()
            elif not self._fire_due(now):
                self.clock.advance(now)
                return
        raise AssertionError("our scheduler does not come to rest")

    def _fire_due(self, now: int) -> bool:
        """Call the next timer, if it is due; whether there was one."""
        due = (self.clock.next_inner(), self.clock.next_outer())
        return any(when is not None and when <= now for when in due) and self.clock.fire_next(outer=True)

    def observe(self) -> Observation:
        pods, events = (
            [stored.document() for stored in self.store.list(known_kind(self.store.kinds, "v1", name), "default")]
            for name in ("Pod", "Event")
        )
        tried = {(decision.pod, decision.uid, decision.attempt) for decision in self.recorder.decisions}
        attempts = Counter(pod.split("/")[1] for pod, _, _ in tried)
        return observe(pods, events, attempts, self._versions)

    def close(self) -> None:
        self.scheduler.close()

    def _on_pod(self, change: Change) -> None:
        if change.type != "DELETED":
            self._versions.add(change.stored.document())


def _patch(document: Document, operation: Operation, answer: Document) -> None:
    """A merge patch changes the fields it names; of any other the server's answer is taken."""
    if operation.verb == "patch":
        merge(document, operation.body)
    else:
        document["spec"] = answer["spec"]


@contextmanager
def extender_for(answer: Answer | None, config: Document) -> Iterator[Document]:
    """The configuration with the address of a running extender."""
    if answer is None:
        yield config
        return
    listening = ThreadingHTTPServer(("127.0.0.1", 0), handler(answer))
    listening.daemon_threads = True
    thread = threading.Thread(target=listening.serve_forever, daemon=True)
    thread.start()
    address = f"http://127.0.0.1:{listening.server_port}"
    try:
        yield {**config, "extenders": [{"urlPrefix": address, **entry} for entry in config["extenders"]]}
    finally:
        listening.shutdown()
        listening.server_close()
        thread.join()
