"""OpenAPI: one v3 document per group and version, under a hash that lets clients keep it."""

from seatrial.model.errors import NotFound
from seatrial.server.messages import Answer, Request, json_answer
from seatrial.store.store import Store


class Schemas:
    """Answers /openapi."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def index(self, request: Request) -> Answer:
        """Where each document is."""
        return json_answer({"paths": {}})

    async def group_version(self, request: Request, path: str) -> Answer:
        """The document of one group and version."""
        raise NotFound("the server could not find the requested resource")

    async def second_version(self, request: Request) -> Answer:
        """OpenAPI v2 is not served: current clients ask for v3."""
        raise NotFound("OpenAPI v2 is not served; /openapi/v3 is")
