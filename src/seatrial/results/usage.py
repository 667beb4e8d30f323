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
    amounts = np.array([pod.requests.get(resource, 0) for pod in run.pods], np.int64)
    return _summed(run, run.homes, amounts, *run.stays)


def _allocatable(run: Run, resource: str) -> Grid:
    nodes, places = run.nodes, run.places
    amounts = np.array([node.allocatable.get(resource, 0) for node in nodes], np.int64)
    came, went = [places[node.came] for node in nodes], [places[node.went] for node in nodes]
    return _summed(run, np.arange(len(nodes)), amounts, np.array(came, np.int64), np.array(went, np.int64))


def _summed(run: Run, columns: Grid, amounts: Grid, starts: Grid, ends: Grid) -> Grid:
    """Amounts in the columns of their nodes (-1: none), each from the place of its start to that of its end."""
    grid = np.zeros((len(run.steps) + 1, len(run.nodes)), np.int64)
    counts = columns >= 0
    for rows, add in ((starts, np.add), (ends, np.subtract)):
        happened = counts & (rows >= 0)
        add.at(grid, (rows[happened], columns[happened]), amounts[happened])
    return np.cumsum(grid, axis=0)[:-1]
