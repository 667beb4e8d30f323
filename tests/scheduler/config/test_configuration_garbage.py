"""Whatever is handed in as a configuration, the answer is a configuration or an error that names what is wrong."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from seatrial.scheduler.config import ConfigurationError, load_configuration
from seatrial.scheduler.config.types import CYCLE_POINTS
from seatrial.scheduler.versions import DEFAULT as VERSION
from tests.scheduler.plugins.upstream_plugins import POINTS as IN_TREE

POINTS = (*CYCLE_POINTS, *VERSION.group_points)

HEAD = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
SCALARS = st.none() | st.booleans() | st.integers(-(1 << 40), 1 << 40) | st.floats() | st.text(max_size=5)
ANYTHING = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
PLUGINS = st.sampled_from([*IN_TREE, "*", "Nobody", ""])
SETS = st.fixed_dictionaries(
    {},
    optional={
        "enabled": st.lists(st.fixed_dictionaries({"name": PLUGINS}, optional={"weight": ANYTHING}), max_size=3),
        "disabled": st.lists(st.fixed_dictionaries({"name": PLUGINS}), max_size=3) | ANYTHING,
    },
)
PROFILES = st.fixed_dictionaries(
    {},
    optional={
        "schedulerName": st.sampled_from(["a", "b", ""]) | ANYTHING,
        "percentageOfNodesToScore": ANYTHING,
        "plugins": st.dictionaries(st.sampled_from([*POINTS, "multiPoint", "nonsense"]), SETS | ANYTHING, max_size=3),
        "pluginConfig": st.lists(
            st.fixed_dictionaries({"name": PLUGINS}, optional={"args": ANYTHING}) | ANYTHING, max_size=3
        ),
    },
)
DOCUMENTS = st.fixed_dictionaries(
    {},
    optional={
        "profiles": st.lists(PROFILES | ANYTHING, max_size=3) | ANYTHING,
        "extenders": ANYTHING,
        "leaderElection": ANYTHING,
        "parallelism": ANYTHING,
    },
)


@settings(max_examples=300, deadline=None)
@given(DOCUMENTS)
def test_any_document_is_judged(document: Any) -> None:
    for version in ("v1", "v1beta3"):
        try:
            load_configuration({**HEAD, "apiVersion": f"kubescheduler.config.k8s.io/{version}", **document})
        except ConfigurationError as error:
            assert error.problems


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=40))
def test_any_text_is_judged(text: str) -> None:
    try:
        load_configuration(text)
    except ConfigurationError as error:
        assert error.problems
