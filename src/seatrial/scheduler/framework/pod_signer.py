"""Signs pods for opportunistic batching: pods of one signature may follow each other down one list of scored nodes.

Upstream: pkg/scheduler/framework/runtime/framework.go (computeBatchablePlugins, SignPod), v1.36.3.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from seatrial.model.documents import encode_sorted
from seatrial.scheduler.cache.pod_info import PodInfo
from seatrial.scheduler.framework.extension_points import SignPlugin
from seatrial.scheduler.framework.interface import Plugin
from seatrial.scheduler.framework.status import Status
from seatrial.scheduler.plugins.pod_signatures import SIGNERS, Signed
from seatrial.scheduler.plugins.pod_topology_spread.plugin import PodTopologySpread
from seatrial.scheduler.plugins.registry import is_in_tree

_POINTS = ("preFilter", "filter", "preScore", "score")
Signer = Callable[[PodInfo], Signed]


class PodSigner:
    """Signs pods with the plugins of one profile that judge nodes."""

    def __init__(self, points: Mapping[str, Sequence[Plugin]], *, has_extenders: bool) -> None:
        plugins = {plugin.name: plugin for point in _POINTS for plugin in points.get(point, ())}
        found = {name: _signer(plugin) for name, plugin in plugins.items()}
        is_enabled = not has_extenders and all(found.values())
        self.signers = {name: signer for name, signer in found.items() if signer is not None} if is_enabled else None
        """By plugin; None where a plugin does not sign, or extenders are asked as well: no pod is signed then."""
        spreading = plugins.get("PodTopologySpread")
        spreads_all = isinstance(spreading, PodTopologySpread) and spreading.has_default_constraints
        self.can_sign = is_enabled and not spreads_all
        """Whether there may be a pod that is signed: by default there is none, since all pods are spread."""

    def sign(self, pod: PodInfo) -> bytes | None:
        """All that the plugins read of the pod; None where one of them cannot say, as when it looks at other pods."""
        if self.signers is None:
            return None
        fragments: dict[str, Any] = {"v1.Pod.Spec.SchedulerName": pod.shape.scheduler_name}
        for signer in self.signers.values():
            signed = signer(pod)
            if isinstance(signed, Status):
                return None
            fragments.update(signed)
        try:
            return encode_sorted(fragments)
        except (TypeError, ValueError):
            return None


def _signer(plugin: Plugin) -> Signer | None:
    if is_in_tree(type(plugin)):
        signer = SIGNERS.get(plugin.name)
        return None if signer is None else partial(signer, plugin)
    return plugin.sign if isinstance(plugin, SignPlugin) else None
