"""DefaultBinder: binds the pod through the API.

Upstream: pkg/scheduler/framework/plugins/defaultbinder (v1.36).
"""

from typing import Any

from seatrial.model.errors import StatusError
from seatrial.scheduler.cache.node_info import NodeInfo
from seatrial.scheduler.cache.pod_info import PodInfo
from seatrial.scheduler.framework.interface import Plugin
from seatrial.scheduler.framework.status import Status, error


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
