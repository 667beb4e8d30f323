"""Network topologies at the start of a session: soft ones become hard, and lost places are found again.

Upstream: pkg/scheduler/framework/session.go (adjustNetworkTopologySpec, recoverAllocatedHyperNode).
"""

from typing import TYPE_CHECKING

from seatrial.volcano.cache.hyper_node_info import HyperNodes
from seatrial.volcano.cache.job_info import JobInfo
from seatrial.volcano.cache.sub_job_info import NetworkTopology, SubJobInfo
from seatrial.volcano.cache.task_info import ALLOCATED_STATUSES

if TYPE_CHECKING:
    from seatrial.volcano.framework.session import Session


def prepare_topology(session: "Session") -> None:
    """Makes the topologies of all jobs hard and numeric, and finds the HyperNodes their tasks are in."""
    hyper_nodes = session.hyper_nodes
    for job in session.jobs.values():
        if not job.has_network_topology:
            continue
        _translate(job.network_topology, hyper_nodes)
        for sub_job in job.sub_jobs.values():
            _translate(sub_job.network_topology, hyper_nodes)
        if job.network_topology is not None:
            job.network_topology.harden(hyper_nodes.top.tier)
        bound = hyper_nodes.top.tier
        if job.network_topology is not None and job.network_topology.highest_tier_allowed is not None:
            bound = job.network_topology.highest_tier_allowed
        for sub_job in job.sub_jobs.values():
            if sub_job.network_topology is not None:
                sub_job.network_topology.harden(bound)
        if hyper_nodes.is_ready:
            _forget_invalid(job, hyper_nodes)
            _recover(job, session)


def _translate(topology: NetworkTopology | None, hyper_nodes: HyperNodes) -> None:
    if topology is None or topology.highest_tier_allowed is not None or not topology.highest_tier_name:
        return
    tier = hyper_nodes.tier_names.get(topology.highest_tier_name)
    if tier is not None:
        topology.highest_tier_allowed, topology.highest_tier_name = tier, ""


def _forget_invalid(job: JobInfo, hyper_nodes: HyperNodes) -> None:
    owners: tuple[JobInfo | SubJobInfo, ...] = (job, *job.sub_jobs.values())
    for owner in owners:
        if owner.allocated_hyper_node not in hyper_nodes.infos or not owner.index.allocated:
            owner.allocated_hyper_node = ""


def _recover(job: JobInfo, session: "Session") -> None:
    """Finds the lowest HyperNode that has all nodes a sub-job's tasks are on."""
    hyper_nodes = session.hyper_nodes
    updated = False
    for sub_job in job.sub_jobs.values():
        if sub_job.network_topology is None or sub_job.allocated_hyper_node:
            continue
        placed = {t.node_name for t in sub_job.index if t.status in ALLOCATED_STATUSES and t.node_name}
        found = [
            name
            for name in hyper_nodes.infos
            if placed and placed <= {node.name for node in hyper_nodes.real_nodes.get(name, ())}
        ]
        lowest = min(found, key=lambda name: (hyper_nodes.infos[name].tier, name), default="")
        if sub_job.allocated_hyper_node != lowest:
            sub_job.allocated_hyper_node = lowest
            session.dirty_jobs.add(job.uid)
            updated = True
    if job.allocated_hyper_node and not updated:
        return
    common = ""
    for sub_job in job.sub_jobs.values():
        if sub_job.allocated_hyper_node:
            common = hyper_nodes.lowest_common(common, sub_job.allocated_hyper_node)
            if not common:
                break
    if job.allocated_hyper_node != common:
        job.allocated_hyper_node = common
        session.dirty_jobs.add(job.uid)
