"""Durability: a journal of every write and a snapshot now and then; after `kill -9` nothing acknowledged is missing."""

from seatrial.store.durable.durability import Durability

__all__ = ["Durability"]
