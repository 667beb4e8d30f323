"""Lifecycle of pods and nodes as data: KWOK `Stage` objects, interpreted in virtual time."""
