"""All plugins by name. Upstream: plugins/factory.go."""

from collections.abc import Mapping

from seatrial.volcano.framework.plugin import Plugin
from seatrial.volcano.plugins.binpack import Binpack
from seatrial.volcano.plugins.capacity import Capacity
from seatrial.volcano.plugins.cdp import CooldownProtection
from seatrial.volcano.plugins.conformance import Conformance
from seatrial.volcano.plugins.drf import Drf
from seatrial.volcano.plugins.gang import Gang
from seatrial.volcano.plugins.network_topology_aware import NetworkTopologyAware
from seatrial.volcano.plugins.nodegroup import NodeGroup
from seatrial.volcano.plugins.nodeorder import NodeOrder
from seatrial.volcano.plugins.overcommit import Overcommit
from seatrial.volcano.plugins.pdb import PodDisruptionBudgets
from seatrial.volcano.plugins.predicates import Predicates
from seatrial.volcano.plugins.priority import Priority
from seatrial.volcano.plugins.proportion import Proportion
from seatrial.volcano.plugins.rescheduling import Rescheduling
from seatrial.volcano.plugins.resource_strategy_fit import ResourceStrategyFit
from seatrial.volcano.plugins.resourcequota import ResourceQuota
from seatrial.volcano.plugins.sla import Sla
from seatrial.volcano.plugins.task_topology import TaskTopology
from seatrial.volcano.plugins.tdm import Tdm
from seatrial.volcano.plugins.usage import Usage

_ALL: tuple[type[Plugin], ...] = (
    Binpack,
    Capacity,
    CooldownProtection,
    Conformance,
    Drf,
    Gang,
    NetworkTopologyAware,
    NodeGroup,
    NodeOrder,
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
