"""What a minor version of kube-scheduler does otherwise than others: gates, default plugins, extension points, rules.

A version is a record. The configuration, the evaluators and the plugins read it from the handle; none of them knows a
version by its number. A new version is one more record (CONTRIBUTING.md, "a new minor version").
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from functools import cached_property
from typing import NamedTuple


class Gate(NamedTuple):
    """A feature gate of a version."""

    default: bool
    stage: str
    is_locked: bool = False


class ImageVolumes(IntEnum):
    """What ImageLocality makes of image volumes."""

    IGNORED = 0
    SUMMED = 1
    COUNTED = 2


@dataclass(frozen=True, slots=True)
class Rules:
    """The small rules that differ between versions, each with upstream's change. Defaults: the newest behaviour."""

    balances_by_change: bool = True
    """NodeResourcesBalancedAllocation scores the change that the pod makes, and not the state after it (#135573)."""
    image_volumes: ImageVolumes = ImageVolumes.COUNTED
    """ImageLocality sums the images of volumes (#130231), and counts them as it counts containers (#138951)."""
    names_score_weights: bool = True
    """The error about weights that are too large says which scores they are of (getValidScoreWeights)."""
    missing_drivers_opt_in: bool = True
    """VolumeLimitScaling keeps pods from nodes without their CSI driver only where the CSIDriver asks for it."""
    scores_allocated_claims: bool = True
    """DynamicResources scores claims that were allocated before; without it, they make the score fail."""
    names_idle_post_filter: bool = False
    """The PostFilter of DynamicResources says why it does nothing."""
    names_preemption: bool = True
    """The PostFilter of DefaultPreemption names the node and the number of victims (#140180)."""
    sums_before_maxima: bool = True
    """A pod in a resize counts as the maximum of three sums, and not as the sum of maxima (#140047)."""
    all_means_full_devices_too: bool = True
    """A request for all devices fails if the capacity left of one is too small, instead of passing over that one."""
    explains_cel_errors: bool = True
    """Errors of CEL expressions name the device and say how to avoid a missing key (#136709)."""
    checks_pools: bool = True
    """Devices come from complete and valid pools; else incomplete ones serve too, and an invalid one is an error."""
    relates_preemptors: bool = False
    """The event Preempted refers to the preemptor, and does not say that a victim was only in memory."""
    throws_dice_for_ties: bool = False
    """The node is a random one of the best (until #135231): the node of later versions is taken, and judged by none."""
    retries_on_taints: bool = False
    """A plugin that waits for new nodes has pods tried again whenever taints change (#109437, until preCheck went)."""
    hints_see_both_sides: bool = True
    """InterPodAffinity retries a pod for its new labels, for a nominated pod, and when a pod goes whose anti-affinity
    kept it away (#135325); PodTopologySpread, too, looks at nominated pods."""
    hints_need_one_term: bool = True
    """InterPodAffinity retries a pod when one term of anti-affinity matches no longer, and not only all (#139161)."""
    checks_ratio_by_type: bool = True
    """`requestedToCapacityRatio` is required or forbidden by the type of the strategy (#132120)."""


@dataclass(frozen=True, eq=False)
class Version:
    """One minor version."""

    minor: str
    """As `--kubernetes-version` names it."""
    release: str
    """The patch release whose answers are recorded."""
    gates_by_state: Mapping[str, str]
    """Names of feature gates by state: `on GA locked`, `off Alpha`, ..."""
    dependents: Mapping[str, str]
    """By gate: the gates that can be on only with it."""
    plugins: str
    """What MultiPoint enables by default, in order: `Name`, or `Name:weight`."""
    gated_plugins: Mapping[str, str]
    """By default plugin: the gate without which it is not enabled."""
    not_yet: frozenset[str] = frozenset()
    """Gates that the scheduler reads and this version does not have yet: they count as off."""
    missing_points: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """By plugin: the extension points that it does not have in this version."""
    missing_plugins: frozenset[str] = frozenset()
    """Plugins that this version does not have."""
    idle_points: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """By plugin: points of gates that are off. A configuration may name the plugin there, and nothing runs."""
    group_points: tuple[str, ...] = ()
    """The extension points of pod groups and placements that a profile may name."""
    missing_arguments: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """By plugin: the arguments that it does not have in this version."""
    missing_kinds: tuple[tuple[str, str], ...] = ()
    """API versions and kinds that its API server does not serve by default, of those of the data file."""
    added_kinds: tuple[tuple[str, str], ...] = ()
    """API versions and kinds that its API server serves by default besides those of the data file."""
    rules: Rules = Rules()

    @cached_property
    def gates(self) -> Mapping[str, Gate]:
        """Every feature gate that kube-scheduler registers."""
        found = {}
        for state, names in self.gates_by_state.items():
            on, stage, *locked = state.split()
            found.update(dict.fromkeys(names.split(), Gate(on == "on", stage, bool(locked))))
        return found

    @cached_property
    def defaults(self) -> Mapping[str, bool]:
        """The gates that are not switched: a gate that is gone is on, one that is still to come is off."""
        known = {name: gate.default for name, gate in self.gates.items()}
        return dict.fromkeys(self.not_yet, False) | known

    @cached_property
    def default_plugins(self) -> tuple[tuple[str, int | None], ...]:
        """The default plugins in order, with the weight where there is one."""
        parts = (entry.partition(":") for entry in self.plugins.split())
        return tuple((name, int(weight) if weight else None) for name, _, weight in parts)
