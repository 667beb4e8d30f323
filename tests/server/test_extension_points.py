import asyncio

from seatrial.model.errors import Forbidden
from seatrial.server.extension_points import Gate, RouteTable
from seatrial.server.messages import Answer, Request
from seatrial.server.paths import Target
from tests.server.client import Server
from tests.server.documents import MAPS, config_map


class Hold(Gate):
    """A gate that holds one user's writes and watches until it is opened."""

    def __init__(self) -> None:
        self.open = asyncio.Event()
        self.seen: list[str] = []

    async def enter(self, request: Request, target: Target) -> None:
        if request.method != "GET":
            self.seen.append(f"{request.user.name} {request.method} {target.kind.plural}")
            await self.open.wait()

    async def deliver(self, request: Request, target: Target) -> None:
        await self.open.wait()


class Refuse(Hold):
    async def enter(self, request: Request, target: Target) -> None:
        raise Forbidden("the gate is shut")


def test_a_gate_holds_writes_until_it_opens() -> None:
    async def story() -> None:
        gate = Hold()
        server = Server(gates=[gate])
        writing = asyncio.ensure_future(server.send("POST", MAPS, config_map("a")))
        await asyncio.sleep(0.01)
        assert not writing.done()
        assert (await server.send("GET", f"{MAPS}/a")).status == 404
        assert gate.seen == ["kubernetes-admin POST configmaps"]
        gate.open.set()
        assert (await writing).status == 201

    asyncio.run(story())


def test_a_gate_holds_the_events_of_a_watch() -> None:
    async def story() -> None:
        gate = Hold()
        gate.open.set()
        server = Server(gates=[gate])
        async with server.watch(f"{MAPS}?watch=true") as watch:
            gate.open.clear()
            writing = asyncio.ensure_future(server.send("POST", MAPS, config_map("a")))
            await asyncio.sleep(0.01)
            gate.open.set()
            await writing
            assert (await watch.next())["object"]["metadata"]["name"] == "a"

    asyncio.run(story())


def test_a_gate_may_refuse() -> None:
    async def story() -> None:
        server = Server(gates=[Refuse()])
        answer = await server.send("POST", MAPS, config_map("a"))
        assert (answer.status, answer.json()["message"]) == (403, "the gate is shut")

    asyncio.run(story())


def test_routes_go_before_the_api_and_may_be_public() -> None:
    async def page(request: Request) -> Answer:
        return Answer(request.user.name.encode(), content_type="text/plain")

    routes = RouteTable()
    routes.add("GET", "/ui/", page, public=True)
    routes.add("GET", "/private", page)
    server = Server(routes=[routes])
    assert server("GET", "/ui/a/b", authorization="").body == b"system:anonymous"
    assert server("GET", "/private", authorization="").status == 401
    assert server("GET", "/private").body == b"kubernetes-admin"
    assert server("POST", "/private", {}).status == 404
