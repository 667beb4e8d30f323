"""Prefers cheap nodes: the price of an hour is looked up by the value of a label."""

from typing import Any

import numpy as np

from seatrial.plugins import Plugin, PodInfo


class CheapestNodes(Plugin):
    def score(self, pod: PodInfo, nodes: Any) -> np.ndarray:
        """All nodes at once: a price in thousandths, dearest where nobody knows it."""
        prices = {value: round(1000 * price) for value, price in self.args["prices"].items()}
        dearest = max(prices.values())
        return np.array([prices.get(node.labels.get(self.args["label"], ""), dearest) for node in nodes])

    def normalize(self, pod: PodInfo, nodes: Any, scores: np.ndarray) -> np.ndarray:
        """The cheapest of the feasible nodes gets 100, the dearest 0."""
        spread = scores.max() - scores.min()
        return np.full(len(scores), 100) if spread == 0 else 100 * (scores.max() - scores) // spread
