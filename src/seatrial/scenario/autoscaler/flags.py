"""The flags of cluster-autoscaler that the built-in one knows, by their names upstream."""

import shlex
from collections.abc import Mapping
from typing import Literal

import msgspec

from seatrial.model.durations import DurationError, parse_duration
from seatrial.model.errors import ScenarioError
from seatrial.scenario.spec.kind import AUTOSCALER_FLAGS

Expander = Literal["least-waste", "price", "priority", "random", "most-pods"]


class Flags(msgspec.Struct, frozen=True, rename=lambda name: name.replace("_", "-"), forbid_unknown_fields=True):
    """Flags with upstream's defaults."""

    expander: Expander = "least-waste"
    scale_down_enabled: bool = True
    scale_down_utilization_threshold: float = 0.5
    scale_down_unneeded_time: str = "10m"
    scale_down_delay_after_add: str = "10m"
    max_scale_down_parallelism: int = 10
    skip_nodes_with_system_pods: bool = True
    skip_nodes_with_local_storage: bool = True
    skip_nodes_with_custom_controller_pods: bool = True
    blocking_system_pod_distruption_timeout: str = "1h"  # upstream's spelling

    @property
    def unneeded_time(self) -> int:
        return parse_duration(self.scale_down_unneeded_time)

    @property
    def system_pod_timeout(self) -> int:
        return parse_duration(self.blocking_system_pod_distruption_timeout)

    @property
    def delay_after_add(self) -> int:
        return parse_duration(self.scale_down_delay_after_add)


def flags_of(annotations: Mapping[str, str]) -> Flags:
    """The flags that a Scenario gives; ScenarioError names a wrong one."""
    given: dict[str, str] = {}
    for word in shlex.split(annotations.get(AUTOSCALER_FLAGS, "")):
        name, _, value = word.removeprefix("--").partition("=")
        given[name] = value or "true"
    try:
        flags = msgspec.convert(given, Flags, strict=False)
        _ = flags.unneeded_time, flags.delay_after_add, flags.system_pod_timeout
    except (msgspec.ValidationError, DurationError) as error:
        raise ScenarioError("", f"annotation {AUTOSCALER_FLAGS}: {error}") from error
    return flags
