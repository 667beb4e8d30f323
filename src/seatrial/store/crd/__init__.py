"""Kinds that users define: a CustomResourceDefinition adds kinds; its schema prunes, defaults and validates them."""

from seatrial.store.crd.definition import Definition, Version
from seatrial.store.crd.registry import DEFINITIONS, Definitions

__all__ = ["DEFINITIONS", "Definition", "Definitions", "Version"]
