"""The user's cluster in these tests: an API server that is `seatrial serve` or the real kube-apiserver."""

import base64
import http.client
import json
import socket
import ssl
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import yaml

from seatrial.operator.kinds import definitions
from seatrial.scenario.spec.kind import API_VERSION
from tests.outside.processes import Serve

GROUP_PATH = f"/apis/{API_VERSION}"
CONTROLLERS = "garbagecollector,namespace,serviceaccount"
"""Controllers of the user's cluster; no Pod stages, since the test kubelet runs the Pods."""


class Refused(Exception):
    """The API server said no."""

    def __init__(self, code: int, status: dict[str, Any]) -> None:
        super().__init__(f"{code}: {status.get('message')}")
        self.code = code
        self.status = status


class Cluster:
    """An API server with credentials."""

    def __init__(self, kubeconfig: Path) -> None:
        self.kubeconfig = kubeconfig
        self.problems: list[BaseException] = []
        """What went wrong in threads that serve this cluster."""
        document = yaml.safe_load(kubeconfig.read_text())
        cluster, user = document["clusters"][0]["cluster"], document["users"][0].get("user") or {}
        self.url = cluster["server"]
        self.token = user.get("token")
        authority = cluster.get("certificate-authority-data")
        self._context = ssl.create_default_context(cadata=base64.b64decode(authority).decode()) if authority else None
        if cluster.get("insecure-skip-tls-verify"):
            self._context = ssl.create_default_context()
            self._context.check_hostname, self._context.verify_mode = False, ssl.CERT_NONE

    def connect(self, timeout: float = 60) -> http.client.HTTPConnection:
        parts = urlsplit(self.url)
        if self._context is not None:
            return http.client.HTTPSConnection(parts.hostname, parts.port, timeout=timeout, context=self._context)
        return http.client.HTTPConnection(parts.hostname, parts.port, timeout=timeout)

    def headers(self, kind: str = "application/json") -> dict[str, str]:
        return {"Content-Type": kind} | ({"Authorization": f"Bearer {self.token}"} if self.token else {})

    def request(self, method: str, path: str, body: Any = None, kind: str = "application/json") -> Any:
        """The answer; a server that asks for patience (429) gets it."""
        for _ in range(60):
            try:
                return self._request(method, path, body, kind)
            except Refused as error:
                if error.code != 429:
                    raise
            time.sleep(0.5)
        return self._request(method, path, body, kind)

    def _request(self, method: str, path: str, body: Any, kind: str) -> Any:
        connection = self.connect()
        try:
            connection.request(method, path, None if body is None else json.dumps(body), self.headers(kind))
            answer = connection.getresponse()
            read = answer.read()
            # A server says in plain text that it knows nothing of a whole group.
            content = json.loads(read) if read.startswith(b"{") else {"message": read.decode()}
        finally:
            connection.close()
        if answer.status >= 400:
            raise Refused(answer.status, content)
        return content

    def get(self, path: str) -> Any:
        """An object; None where there is none."""
        try:
            return self.request("GET", path)
        except Refused as error:
            if error.code == 404:
                return None
            raise

    def patch(self, path: str, change: dict[str, Any]) -> Any:
        return self.request("PATCH", path, change, "application/merge-patch+json")

    def install_definitions(self) -> None:
        for definition in definitions():
            self.request("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition)
        self.wait_for(lambda: self.get(f"{GROUP_PATH}/schedulersimulations"), "the definitions are served")
        self.wait_for(lambda: self.get(f"{GROUP_PATH}/simulators"), "the definitions are served")

    def create(self, document: dict[str, Any]) -> Any:
        """Create a SchedulerSimulation or Simulator."""
        return self.request("POST", path_of(document["kind"], document["metadata"]["namespace"]), document)

    def simulation(self, name: str, namespace: str = "default") -> Any:
        return self.get(f"{path_of('SchedulerSimulation', namespace)}/{name}")

    def simulator(self, name: str, namespace: str = "default") -> Any:
        return self.get(f"{path_of('Simulator', namespace)}/{name}")

    def pod(self, name: str, namespace: str = "default") -> Any:
        return self.get(f"/api/v1/namespaces/{namespace}/pods/{name}")

    def wait_for(self, condition: Callable[[], Any], what: str, seconds: float = 240) -> Any:
        """Poll until a condition gives something; that."""
        end = time.monotonic() + seconds
        while not (found := condition()):
            assert not self.problems, self.problems
            assert time.monotonic() < end, f"not within {seconds:g} s: {what}"
            time.sleep(0.05)
        return found

    def ended(self, name: str, namespace: str = "default", seconds: float = 240) -> dict[str, Any]:
        """The status of a SchedulerSimulation once it has a phase."""

        def status() -> Any:
            found = self.simulation(name, namespace).get("status") or {}
            return found if found.get("phase") else None

        ended: dict[str, Any] = self.wait_for(status, f"{name} has ended", seconds)
        return ended

    def watch(self, path: str) -> "Watch":
        return Watch(self, path)


class Watch:
    """The events of a collection since the watch began."""

    def __init__(self, cluster: Cluster, path: str) -> None:
        version = cluster.request("GET", path)["metadata"]["resourceVersion"]
        self._connection = cluster.connect()
        query = f"?watch=true&resourceVersion={version}&timeoutSeconds=300"
        self._connection.request("GET", path + query, headers=cluster.headers())
        self._socket = self._connection.sock
        self._answer = self._connection.getresponse()

    def events(self) -> Iterator[tuple[str, dict[str, Any]]]:
        while line := self._answer.readline():
            event = json.loads(line)
            yield event["type"], event["object"]

    def end(self) -> None:
        """Let `events` come to its end, in whatever thread it is."""
        self._socket.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        self._answer.close()
        self._connection.close()
        self._socket.close()


def path_of(kind: str, namespace: str) -> str:
    return f"{GROUP_PATH}/namespaces/{namespace}/{kind.lower()}s"


@contextmanager
def seatrial_cluster(directory: Path, *flags: str) -> Iterator[Cluster]:
    """`seatrial serve` as the user's cluster, with the definitions installed."""
    with Serve(directory / "cluster", "--no-scheduler", "--controllers", CONTROLLERS, *flags) as serve:
        cluster = Cluster(serve.kubeconfig)
        cluster.install_definitions()
        yield cluster
