"""ImageLocality: nodes that have the pod's images score higher, more so the more nodes have them.

Upstream: pkg/scheduler/framework/plugins/imagelocality (v1.36).
"""

from typing import Any

import numpy as np

from seatrial.model.documents import Document
from seatrial.scheduler.cache.node_table import Ints, Nodes, NodeTable
from seatrial.scheduler.cache.pod_info import PodInfo
from seatrial.scheduler.framework.interface import MAX_NODE_SCORE, Plugin, Reads
from seatrial.scheduler.versions import ImageVolumes

MEBIBYTE = 1024 * 1024
LEAST = 23 * MEBIBYTE
MOST_PER_CONTAINER = 1000 * MEBIBYTE


class ImageLocality(Plugin):
    """Sums image sizes scaled by how widespread the image is."""

    reads = Reads.ROW

    def depends_on(self) -> int:
        """The share of nodes having an image changes with the number of nodes."""
        return len(self.handle.nodes.order)

    def is_steady(self, pod: PodInfo, table: NodeTable) -> bool:
        """Whether scores change with nodes only: no node has an image of the pod."""
        seen = table.images.seen
        return not seen or not any(name in seen for name in self._images(pod.spec))

    def score(self, pod: PodInfo, nodes: Nodes, state: Any = None) -> Ints | None:
        if not nodes.has_images or self.is_steady(pod, nodes.table):
            return None
        sums = self._sums(pod, nodes.table, None if nodes.is_whole else nodes.rows, len(nodes))
        return priority(sums, self._count(pod.spec))

    def score_row(self, pod: PodInfo, table: NodeTable, row: int, state: Any) -> int:
        """The score of one row."""
        if self.is_steady(pod, table):
            return 0
        return int(priority(self._sums(pod, table, np.asarray([row], np.intp), 1), self._count(pod.spec))[0])

    def _sums(self, pod: PodInfo, table: NodeTable, rows: Any, size: int) -> Ints:
        total = len(table.order)
        sums = np.zeros(table.size, np.int64)
        for name in self._images(pod.spec):
            for row, (image_size, nodes) in table.images.seen.get(name, {}).items():
                sums[row] += int(image_size * (nodes / total))
        return sums if rows is None else sums[rows]

    def _images(self, spec: Document) -> list[str]:
        """The images that are summed, with a tag."""
        volumes = volume_images(spec) if self.rules.image_volumes is not ImageVolumes.IGNORED else []
        return [with_tag(name) for name in (*container_images(spec), *volumes)]

    def _count(self, spec: Document) -> int:
        """How many images the score is a share of."""
        volumes = volume_images(spec) if self.rules.image_volumes is ImageVolumes.COUNTED else []
        return len(container_images(spec)) + len(volumes)


def container_images(spec: Document) -> list[str]:
    """The images of init containers and containers."""
    return [c.get("image") or "" for c in (*(spec.get("initContainers") or ()), *(spec.get("containers") or ()))]


def volume_images(spec: Document) -> list[str]:
    """The images of image volumes."""
    return [v["image"].get("reference") or "" for v in spec.get("volumes") or () if v.get("image") is not None]


def with_tag(name: str) -> str:
    """An image name without a tag means the latest one."""
    return f"{name}:latest" if name.rfind(":") <= name.rfind("/") else name


def priority(sums: Ints, images: int) -> Ints:
    """0 to 100 between what is negligible and 1000 MiB an image."""
    most = MOST_PER_CONTAINER * images
    bounded = np.where(sums < LEAST, LEAST, np.minimum(sums, most))
    scores: Ints = MAX_NODE_SCORE * (bounded - LEAST) // (most - LEAST)
    return scores
