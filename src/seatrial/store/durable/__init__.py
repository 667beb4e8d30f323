"""Durability: every write goes to an SQLite database before it is acknowledged; `kill -9` loses none of them."""

from seatrial.store.durable.durability import Durability
