"""How vGPU resources are called, and into which parts MIG splits a card: the ConfigMap of the device plugin.

Upstream: pkg/scheduler/api/devices/config (config.go, vgpu.go).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import yaml

from seatrial.model.documents import Document

NUMBER = "volcano.sh/vgpu-number"
CORES = "volcano.sh/vgpu-cores"
MEMORY = "volcano.sh/vgpu-memory"
FILE = "device-config.yaml"


@dataclass(frozen=True, slots=True)
class Instance:
    """One kind of part of a card."""

    name: str
    memory: int
    count: int


@dataclass(frozen=True, slots=True)
class Geometry:
    """One way to split a card."""

    group: str
    instances: tuple[Instance, ...]


@dataclass(frozen=True, slots=True)
class VgpuConfig:
    """The part of the configuration that the scheduler goes by."""

    count: str = NUMBER
    memory: str = MEMORY
    cores: str = CORES
    percentage: str = ""
    memory_factor: int = 0
    geometries: tuple[tuple[tuple[str, ...], tuple[Geometry, ...]], ...] = ()
    """Models of cards, with the ways to split them."""

    @classmethod
    def read(cls, config_map: Document | None) -> "VgpuConfig":
        """The configuration of a ConfigMap; the default where there is none, or it cannot be read."""
        text = ((config_map or {}).get("data") or {}).get(FILE)
        if text is None:
            return cls()
        try:
            given = yaml.safe_load(text)
            return cls._of((given or {}).get("nvidia") or {})
        except (yaml.YAMLError, AttributeError, TypeError, ValueError):
            return cls()

    @classmethod
    def _of(cls, given: Mapping[str, Any]) -> "VgpuConfig":
        listed = [
            (
                tuple(str(model) for model in entry.get("models") or ()),
                tuple(_geometry(geometry) for geometry in entry.get("allowedGeometries") or ()),
            )
            for entry in given.get("knownMigGeometries") or ()
        ]
        return cls(
            count=given.get("resourceCountName") or "",
            memory=given.get("resourceMemoryName") or "",
            cores=given.get("resourceCoreName") or "",
            percentage=given.get("resourceMemoryPercentageName") or "",
            memory_factor=int(given.get("gpuMemoryFactor") or 0),
            geometries=tuple(listed),
        )

    def geometries_of(self, type: str) -> tuple[Geometry, ...] | None:
        """The ways to split a card of a type; None where it is not known."""
        return next((found for models, found in self.geometries if any(model in type for model in models)), None)


def _geometry(given: Mapping[str, Any]) -> Geometry:
    instances = (
        Instance(str(each.get("name") or ""), int(each.get("memory") or 0), int(each.get("count") or 0))
        for each in given.get("geometries") or ()
    )
    return Geometry(str(given.get("group") or ""), tuple(instances))
