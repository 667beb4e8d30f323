"""A scheduler plugin in ten lines: noisy nodes take nothing quiet, and crowded ones are avoided."""

from typing import Any

from seatrial.plugins import Plugin


class QuietNodes(Plugin):
    def filter_one(self, pod: Any, node: Any) -> bool | str:
        return node.labels.get("noisy") != "true" or "node(s) were noisy"

    def score_one(self, pod: Any, node: Any) -> int:
        return 100 - len(node.pods)
