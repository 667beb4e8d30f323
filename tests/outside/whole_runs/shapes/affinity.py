"""Pods that keep others away: which pending pods come back when one of them goes."""

from typing import Any

from tests.outside.whole_runs.builders import HOST, REQUIRED, node, pod
from tests.outside.whole_runs.shape import Shape, create, delete, patch


def shuns(*apps: str) -> dict[str, Any]:
    """A spec with one term of anti-affinity for each app."""
    terms = [{"labelSelector": {"matchLabels": {"app": app}}, "topologyKey": HOST} for app in apps]
    return {"affinity": {"podAntiAffinity": {REQUIRED: terms}}}


SHAPES = (
    Shape(
        "pods that were kept away by anti-affinity come back",
        (
            create(node("n1")),
            create(pod("guard", **shuns("x")), pod("red", labels={"app": "red"}), pod("blue", labels={"app": "blue"})),
            create(pod("shunned", labels={"app": "x"}), pod("both", **shuns("red", "blue"))),
            delete("Pod", "red"),
            delete("Pod", "guard"),
            patch("Pod", "both", {"metadata": {"labels": {"changed": "yes"}}}),
            delete("Pod", "blue"),
        ),
        is_quick=True,
        expects=lambda pods: set(pods) == {"shunned", "both"},
    ),
)
