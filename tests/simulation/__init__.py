"""Tests of the assembly and the loop of a run."""
