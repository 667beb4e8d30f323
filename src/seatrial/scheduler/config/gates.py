"""Feature gates: what a version lets its users switch, with upstream's texts, and what of it is simulated.

A gate that is locked, or that another one depends on, is refused with upstream's text. A gate that is off by default
can be switched on where both ways are simulated, and is refused by name elsewhere.
Upstream: pkg/features/kube_features.go, component-base/featuregate/feature_gate.go.
"""

from collections.abc import Iterator, Mapping

from seatrial.model.errors import ConfigError
from seatrial.scheduler.versions import DEFAULT, Version

SIMULATED = frozenset(
    {
        "DRAAdminAccess",
        "DRAConsumableCapacity",
        "DRADeviceBindingConditions",
        "DRADeviceTaintRules",
        "DRADeviceTaints",
        "DRAExtendedResource",
        "DRAPartitionableDevices",
        "DRAPrioritizedList",
        "DRAResourceClaimDeviceStatus",
        "DRASchedulerFilterTimeout",
        "DynamicResourceAllocation",
        "InPlacePodLevelResourcesVerticalScaling",
        "MatchLabelKeysInPodTopologySpread",
        "NodeDeclaredFeatures",
        "NominatedNodeNameForExpectation",
        "OpportunisticBatching",
        "PodLevelResources",
        "SchedulerAsyncAPICalls",
        "SchedulerAsyncPreemption",
        "SchedulerPopFromBackoffQ",
        "StorageCapacityScoring",
        "TaintTolerationComparisonOperators",
        "VolumeLimitScaling",
    }
)
"""Gates that the scheduler reads and that are simulated both on and off."""


def effective_gates(wanted: Mapping[str, bool] | None, version: Version = DEFAULT) -> Mapping[str, bool]:
    """Every gate of a version with its state; ConfigError names one that cannot be had."""
    gates = {**version.defaults, **(wanted or {})}
    for name, on in (wanted or {}).items():
        problem = _problem(name, on, version)
        if problem:
            raise ConfigError("", "featureGates", problem)
    left = [text for name in wanted or () for text in _dependents_left(name, gates, version)]
    if left:
        raise ConfigError("", "featureGates", left[0] if len(left) == 1 else f"[{', '.join(left)}]")
    return gates


def _problem(name: str, on: bool, version: Version) -> str:
    """Why a gate cannot be switched; empty where it can."""
    gate = version.gates.get(name)
    if gate is None:
        return f"unrecognized feature gate: {name}"
    if gate.is_locked and on != gate.default:
        value, default = str(on).lower(), str(gate.default).lower()
        return f"cannot set feature gate {name} to {value}, feature is locked to {default}"
    if on and not gate.default and name not in SIMULATED:
        return f"{name} is off by default in {version.minor} and is not simulated"
    return ""


def _dependents_left(name: str, gates: Mapping[str, bool], version: Version) -> Iterator[str]:
    """The gates that are on and depend on one that is off, or the other way round, in upstream's words."""
    needed = [gate for gate, listed in version.dependents.items() if name in listed.split()]
    for gate, dependents in ((name, version.dependents.get(name, "").split()), *((gate, [name]) for gate in needed)):
        if not gates[gate]:
            for dependent in dependents:
                if gates[dependent]:
                    yield f"{dependent} is enabled, but depends on features that are disabled: [{gate}]"
