"""Kinds that users define: a CustomResourceDefinition adds kinds; its schema prunes, defaults and validates them."""

from seatrial.store.crd.registry import DEFINITIONS, Definitions
