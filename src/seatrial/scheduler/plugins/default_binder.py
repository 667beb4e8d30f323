"""DefaultBinder: binds the pod through the API.

Upstream: pkg/scheduler/framework/plugins/defaultbinder (v1.36).
"""

from typing import Any

from seatrial.model.errors import StatusError
from seatrial.scheduler.extension import Plugin
from seatrial.scheduler.node import NodeInfo
from seatrial.scheduler.pods import PodInfo
from seatrial.scheduler.verdict import Status, error


class DefaultBinder(Plugin):
    """Writes the binding."""

    def bind(self, pod: PodInfo, node: NodeInfo, state: Any = None) -> Status | None:
        if self.handle.client is None:
            return error("no client to bind with")
        try:
            self.handle.client.bind(pod, node.name)
        except StatusError as failure:
            return error(str(failure))
        return None
