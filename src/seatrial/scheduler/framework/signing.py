"""Signatures of pods: which pods are equal to all plugins of a profile.

Our own plugins see nothing of a pod but its shape; a user's plugin says what it looks at. An attempt that failed is not
repeated for a pod of the same signature while nothing changes. These signatures are ours; `pod_signer` makes those that
upstream uses for opportunistic batching.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from seatrial.model.documents import encode
from seatrial.scheduler.cache.pod_info import PodInfo
from seatrial.scheduler.framework.extension_points import SignPlugin
from seatrial.scheduler.framework.interface import Plugin
from seatrial.scheduler.framework.status import Status
from seatrial.scheduler.plugins.registry import is_in_tree

_JUDGING = frozenset(("preFilter", "filter", "postFilter", "preScore", "score"))


class Signing:
    """Signs pods for one profile."""

    def __init__(self, points: Mapping[str, Sequence[Plugin]]) -> None:
        self._signers = _signers(points)

    @property
    def is_possible(self) -> bool:
        """Whether every plugin that judges pods and nodes can say which pods are equal to it."""
        return self._signers is not None

    def sign(self, pod: PodInfo) -> bytes | None:
        """What tells the pod from others besides its shape; None where a plugin cannot say."""
        if not self._signers:
            return b"" if self._signers is not None else None
        fragments: dict[str, Any] = {}
        for signer in self._signers:
            signed = signer.sign(pod)
            if isinstance(signed, Status):
                return None
            fragments.update(signed)
        try:
            return encode(fragments)
        except (TypeError, ValueError):
            return None


def _signers(points: Mapping[str, Sequence[Plugin]]) -> list[SignPlugin] | None:
    """The users' plugins that sign; None where one judges pods and does not, or may make room for them."""
    found: dict[str, SignPlugin] = {}
    for point, plugins in points.items():
        for plugin in plugins:
            if is_in_tree(type(plugin)):
                continue
            if isinstance(plugin, SignPlugin) and point != "postFilter":
                found[plugin.name] = plugin
            elif point in _JUDGING:
                return None
    return list(found.values())
