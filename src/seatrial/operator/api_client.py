"""The few calls to the user's API server that the controllers make.

Address and credentials come from kopf's login, so that there is one way to reach the cluster.
"""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import aiohttp

from seatrial.model.documents import Document, decode, encode
from seatrial.model.errors import SeatrialError
from seatrial.scenario.spec.kind import API_VERSION

if TYPE_CHECKING:
    import kopf

JSON = "application/json"
MERGE_PATCH = "application/merge-patch+json"
COMPONENT = "seatrial-operator"


class ApiError(SeatrialError):
    """The API server refuses a request."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(f"{message} ({code})")
        self.code = code


@dataclass(frozen=True, slots=True)
class Resource:
    """What the path of a request needs to know of a kind."""

    api_version: str
    plural: str

    def path(self, namespace: str, name: str = "", subresource: str = "") -> str:
        root = f"/apis/{self.api_version}" if "/" in self.api_version else f"/api/{self.api_version}"
        inside = f"namespaces/{namespace}" if namespace else ""
        return "/".join(part for part in (root, inside, self.plural, name, subresource) if part)


SIMULATORS = Resource(API_VERSION, "simulators")
SIMULATIONS = Resource(API_VERSION, "schedulersimulations")
PODS = Resource("v1", "pods")
SERVICES = Resource("v1", "services")
EVENTS = Resource("v1", "events")


class ApiClient:
    """Reads and writes single objects."""

    def __init__(self, login: "Callable[[], kopf.ConnectionInfo]") -> None:
        self._login = login
        self._session: aiohttp.ClientSession | None = None
        self._server = ""

    async def close(self) -> None:
        """End the connections; the next request logs in again."""
        if self._session is not None:
            await self._session.close()
        self._session = None

    async def resources(self, api_version: str) -> set[str]:
        """The plurals that the server serves in a group version."""
        try:
            found = await self._request("GET", f"/apis/{api_version}")
        except ApiError as error:
            if error.code == 404:
                return set()
            raise
        return {resource["name"] for resource in found["resources"]}

    async def get(self, resource: Resource, namespace: str, name: str) -> Document | None:
        """The object; None if it does not exist."""
        try:
            return await self._request("GET", resource.path(namespace, name))
        except ApiError as error:
            if error.code == 404:
                return None
            raise

    async def items(self, resource: Resource, namespace: str) -> list[Document]:
        """The objects of a namespace or, without one, of all, as the server has them in its cache."""
        found: list[Document] = (await self._request("GET", f"{resource.path(namespace)}?resourceVersion=0"))["items"]
        return found

    async def create(self, resource: Resource, document: Document) -> Document | None:
        """The object as it was created; None where one of this name exists."""
        try:
            return await self._request("POST", resource.path(document["metadata"]["namespace"]), document)
        except ApiError as error:
            if error.code == 409:
                return None
            raise

    async def patch(self, resource: Resource, document: Document, change: Document, subresource: str = "") -> Document:
        """The object after a merge patch; a conflict (409) where it is no longer the object that was read."""
        metadata = document["metadata"]
        path = resource.path(metadata["namespace"], metadata["name"], subresource)
        return await self._request("PATCH", path, {"metadata": {"uid": metadata["uid"]}, **change}, MERGE_PATCH)

    async def delete(self, resource: Resource, document: Document) -> None:
        """Delete this very object, and what it owns in the background; it may be gone already."""
        metadata = document["metadata"]
        options = {"propagationPolicy": "Background", "preconditions": {"uid": metadata["uid"]}}
        try:
            await self._request("DELETE", resource.path(metadata["namespace"], metadata["name"]), options)
        except ApiError as error:
            if error.code not in (404, 409):
                raise

    async def record(self, document: Document, reason: str, message: str, now: str, *, warning: bool = False) -> None:
        """An Event about an object; the same reason is recorded once, whatever is restarted."""
        metadata = document["metadata"]
        digest = hashlib.sha256(f"{metadata['uid']}/{reason}".encode()).hexdigest()[:16]
        event: Document = {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"name": f"{metadata['name'][:200].rstrip('.-')}.{digest}", "namespace": metadata["namespace"]},
            "involvedObject": {
                "apiVersion": document["apiVersion"],
                "kind": document["kind"],
                "name": metadata["name"],
                "namespace": metadata["namespace"],
                "uid": metadata["uid"],
            },
            "reason": reason,
            "message": message[:1024],
            "type": "Warning" if warning else "Normal",
            "source": {"component": COMPONENT},
            "reportingComponent": COMPONENT,
            "firstTimestamp": now,
            "lastTimestamp": now,
            "count": 1,
        }
        await self.create(EVENTS, event)

    async def _request(self, method: str, path: str, body: Any = None, kind: str = JSON) -> Document:
        code, content = await self._send(method, path, body, kind)
        if code == 401:
            # Tokens of service accounts are replaced from time to time.
            await self.close()
            code, content = await self._send(method, path, body, kind)
        if code >= 400:
            raise ApiError(code, _message(content))
        document: Document = decode(content)
        return document

    async def _send(self, method: str, path: str, body: Any, kind: str) -> tuple[int, bytes]:
        session = self._session or self._connect()
        data = None if body is None else encode(body)
        headers = {"Accept": JSON, "Content-Type": kind}
        try:
            async with session.request(method, self._server + path, data=data, headers=headers) as answer:
                return answer.status, await answer.read()
        except (aiohttp.ClientError, TimeoutError) as error:
            raise ApiError(503, f"{self._server}: {error or type(error).__name__}") from error

    def _connect(self) -> aiohttp.ClientSession:
        info = self._login()
        self._server = info.server.rstrip("/")
        context = info.as_ssl_context() if self._server.startswith("https:") else False
        self._session = aiohttp.ClientSession(
            headers={"User-Agent": COMPONENT, **info.as_http_headers()},
            connector=aiohttp.TCPConnector(ssl=context, limit=0),
            timeout=aiohttp.ClientTimeout(total=60),
        )
        return self._session


def _message(content: bytes) -> str:
    try:
        status = decode(content)
    except ValueError:
        return content.decode(errors="replace")[:200]
    return str(status.get("message") or status) if isinstance(status, dict) else str(status)
