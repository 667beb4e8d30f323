"""The scale subresource over HTTP: an autoscaling/v1 Scale in front of an object's replicas."""

from seatrial.model.kinds import Kind
from seatrial.server.encoding.negotiation import negotiate
from seatrial.server.encoding.rendering import Rendering
from seatrial.server.handlers import options
from seatrial.server.handlers import request_bodies as bodies
from seatrial.server.handlers.resources import Resources, name_document, not_allowed
from seatrial.server.messages import Answer, Request
from seatrial.server.paths import Target

SCALE = Kind("autoscaling", "v1", "Scale", "scales")


class Scales:
    """Reads and changes the replicas of a workload."""

    def __init__(self, resources: Resources) -> None:
        self._resources = resources
        self._store = resources.store

    async def serve(self, request: Request, target: Target) -> Answer:
        """GET, PUT or PATCH of a Scale."""
        rendering = Rendering(SCALE, negotiate(request.header("accept")))
        if request.method in ("PUT", "PATCH"):
            await self._resources.pass_gates(request, target)
            self._write(request, target)
        elif request.method not in ("GET", "HEAD"):
            raise not_allowed()
        return rendering.document_answer(self._store.scale(target.kind, target.name, target.namespace))

    def _write(self, request: Request, target: Target) -> None:
        writer, namespace = request.user.writer, target.namespace
        if request.method == "PUT":
            scale = bodies.read_object(request, SCALE)
            name_document(scale, target)
            chosen = options.update_options(request)
            self._store.update(
                target.kind, scale, writer=writer, namespace=namespace, subresource="scale", options=chosen
            )
            return
        patch = bodies.read_patch(request, strategic=True)
        self._store.patch(
            target.kind,
            target.name,
            patch,
            writer=writer,
            namespace=namespace,
            subresource="scale",
            options=options.patch_options(request, apply=patch.type == "apply"),
        )
