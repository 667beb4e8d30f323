"""All plugins by name. Upstream: plugins/factory.go."""

from collections.abc import Mapping

from seatrial.volcano.framework.plugin import Plugin
from seatrial.volcano.plugins.jobs.cdp import CooldownProtection
from seatrial.volcano.plugins.jobs.conformance import Conformance
from seatrial.volcano.plugins.jobs.gang import Gang
from seatrial.volcano.plugins.jobs.pdb import PodDisruptionBudgets
from seatrial.volcano.plugins.jobs.priority import Priority
from seatrial.volcano.plugins.jobs.rescheduling import Rescheduling
from seatrial.volcano.plugins.jobs.sla import Sla
from seatrial.volcano.plugins.jobs.tdm import Tdm
from seatrial.volcano.plugins.nodes.binpack import Binpack
from seatrial.volcano.plugins.nodes.deviceshare import DeviceShare
from seatrial.volcano.plugins.nodes.extender import Extender
from seatrial.volcano.plugins.nodes.network_topology_aware import NetworkTopologyAware
from seatrial.volcano.plugins.nodes.nodegroup import NodeGroup
from seatrial.volcano.plugins.nodes.nodeorder import NodeOrder
from seatrial.volcano.plugins.nodes.numaaware import NumaAware
from seatrial.volcano.plugins.nodes.predicates import Predicates
from seatrial.volcano.plugins.nodes.resource_strategy_fit import ResourceStrategyFit
from seatrial.volcano.plugins.nodes.task_topology import TaskTopology
from seatrial.volcano.plugins.nodes.usage import Usage
from seatrial.volcano.plugins.queues.capacity import Capacity
from seatrial.volcano.plugins.queues.drf import Drf
from seatrial.volcano.plugins.queues.overcommit import Overcommit
from seatrial.volcano.plugins.queues.proportion import Proportion
from seatrial.volcano.plugins.queues.resourcequota import ResourceQuota

_ALL: tuple[type[Plugin], ...] = (
    Binpack,
    Capacity,
    CooldownProtection,
    Conformance,
    DeviceShare,
    Drf,
    Extender,
    Gang,
    NetworkTopologyAware,
    NodeGroup,
    NodeOrder,
    NumaAware,
    Overcommit,
    PodDisruptionBudgets,
    Predicates,
    Priority,
    Proportion,
    Rescheduling,
    ResourceStrategyFit,
    ResourceQuota,
    Sla,
    TaskTopology,
    Tdm,
    Usage,
)
PLUGINS: Mapping[str, type[Plugin]] = {plugin.name: plugin for plugin in _ALL}
