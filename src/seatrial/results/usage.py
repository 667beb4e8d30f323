"""Requests held on each node at the end of each step, as arrays; several measures are computed from them."""

import numpy as np
from numpy.typing import NDArray

from seatrial.results.run import Run

Grid = NDArray[np.int64]
"""Steps down, nodes across."""


def requested(run: Run, resource: str) -> Grid:
    """Requested on each node at the end of each step."""
    return _remembered(run, resource)[0]


def allocatable(run: Run, resource: str) -> Grid:
    """Allocatable on each node at the end of each step; 0 where the node is not there."""
    return _remembered(run, resource)[1]


def _remembered(run: Run, resource: str) -> tuple[Grid, Grid]:
    if resource not in run.grids:
        run.grids[resource] = _requested(run, resource), _allocatable(run, resource)
    return run.grids[resource]


def _requested(run: Run, resource: str) -> Grid:
    grid = _empty(run)
    named: dict[str, list[int]] = {}
    for i, node in enumerate(run.nodes):
        named.setdefault(node.name, []).append(i)
    for pod in run.pods:
        amount = pod.requests.get(resource, 0)
        if pod.bound is None or not amount:
            continue
        for i in named.get(pod.node, []):
            node = run.nodes[i]
            if node.came <= pod.bound and (node.went is None or node.went >= pod.bound):
                _mark(run, grid[:, i], pod.bound, pod.ended, amount)
                break
    return np.cumsum(grid, axis=0)[:-1]


def _allocatable(run: Run, resource: str) -> Grid:
    grid = _empty(run)
    for i, node in enumerate(run.nodes):
        _mark(run, grid[:, i], node.came, node.went, node.allocatable.get(resource, 0))
    return np.cumsum(grid, axis=0)[:-1]


def _empty(run: Run) -> Grid:
    return np.zeros((len(run.steps) + 1, len(run.nodes)), np.int64)


def _mark(run: Run, column: NDArray[np.int64], start: int, end: int | None, amount: int) -> None:
    """A life in the column of its node: the amount comes at its start and leaves at its end."""
    column[run.places[start]] += amount
    if end is not None:
        column[run.places[end]] -= amount
