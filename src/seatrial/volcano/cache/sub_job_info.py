"""A sub-job: the tasks of a job that a subgroup policy keeps together. Upstream: pkg/scheduler/api/sub_job_info.go."""

from collections.abc import Sequence
from dataclasses import dataclass

from seatrial.model.documents import Document
from seatrial.model.label_selectors import LabelSelector
from seatrial.volcano.cache.task_index import TaskIndex
from seatrial.volcano.cache.task_info import TaskInfo, TaskStatus

HARD, SOFT = "hard", "soft"


@dataclass(slots=True)
class NetworkTopology:
    """Within which tier of HyperNodes tasks must stay; the session's copy, which it makes hard and numeric."""

    mode: str
    highest_tier_allowed: int | None
    highest_tier_name: str = ""

    @classmethod
    def read(cls, spec: Document | None) -> "NetworkTopology | None":
        if not spec:
            return None
        return cls(spec.get("mode") or HARD, spec.get("highestTierAllowed"), spec.get("highestTierName") or "")

    def copy(self) -> "NetworkTopology":
        return NetworkTopology(self.mode, self.highest_tier_allowed, self.highest_tier_name)

    @property
    def hard_tier(self) -> int | None:
        """The highest tier allowed where the topology is hard."""
        return self.highest_tier_allowed if self.mode == HARD else None

    def harden(self, tier: int) -> None:
        """A soft topology becomes a hard one with the given tier as its bound."""
        if self.mode == SOFT:
            self.mode, self.highest_tier_allowed, self.highest_tier_name = HARD, tier, ""


class SubJobInfo:
    """Tasks of a job that are scheduled together; a job without policies has one with all of them."""

    def __init__(
        self,
        gid: str,
        uid: str,
        job: str,
        min_available: int,
        topology: NetworkTopology | None,
        values: Sequence[str] = (),
    ) -> None:
        self.gid = gid
        self.uid = uid
        self.job = job
        self.min_available = min_available
        self.network_topology = topology
        self.match_index = int(values[0]) if values and values[0].lstrip("+-").isdigit() else 0
        self.priority = 0
        self.index = TaskIndex()
        self.left_pending: dict[str, TaskInfo] = {}
        """Tasks that a copy has replaced in the job, and that are still listed here as pending (of a whole job)."""
        self.allocated_hyper_node = ""
        self.nominated_hyper_node = ""

    def pending(self) -> list[TaskInfo]:
        """The tasks that are listed as pending, in the order of their uids."""
        if not self.left_pending:
            return self.index.listed(TaskStatus.PENDING)
        found = {**self.left_pending, **self.index.of(TaskStatus.PENDING)}
        return [found[uid] for uid in sorted(found)]

    @property
    def is_ready(self) -> bool:
        return self.index.ready + self.index.best_effort >= self.min_available

    @property
    def is_pipelined(self) -> bool:
        return self.index.waiting + self.index.ready + self.index.best_effort >= self.min_available

    @property
    def hard_tier(self) -> int | None:
        return self.network_topology.hard_tier if self.network_topology else None


def match_values(policy: Document, task: TaskInfo) -> list[str]:
    """The values of the labels that distinguish the policy's subgroups; empty where the task is in none."""
    selector = policy.get("labelSelector")
    if selector is not None and not LabelSelector.from_document(selector).matches(task.pod.labels):
        return []
    values = [task.pod.labels.get(key, "") for key in policy.get("matchLabelKeys") or ()]
    return values if all(values) else []
