"""Bad configurations: the field, what was expected, and never a traceback."""

from typing import Any

import pytest

from seatrial.model.errors import ConfigError
from seatrial.scheduler.config import ConfigurationError, load_configuration

V1 = "kubescheduler.config.k8s.io/v1"


def document(**fields: Any) -> dict[str, Any]:
    return {"apiVersion": V1, "kind": "KubeSchedulerConfiguration", **fields}


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"parallelism": "many"}, "parallelism"),
        ({"parallelism": 1 << 40}, "parallelism"),
        ({"profiles": {}}, "profiles"),
        ({"profiles": [7]}, "profiles[0]"),
        ({"leaderElection": {"leaseDuration": "soon"}}, "leaderElection.leaseDuration"),
        ({"extenders": [{"weight": 1.5}]}, "extenders[0].weight"),
        ({"profiles": [{"pluginConfig": [{"name": "NodeAffinity", "args": []}]}]}, ""),
        ({"profiles": [{"pluginConfig": [{"name": "NodeAffinity", "args": "x"}]}]}, "NodeAffinity"),
    ],
)
def test_a_value_of_the_wrong_type_is_named(fields: dict[str, Any], text: str) -> None:
    if not text:
        load_configuration(document(**fields))
        return
    with pytest.raises(ConfigurationError) as refusal:
        load_configuration(document(**fields))
    assert (refusal.value.stage, text in refusal.value.message) == ("decode", True)


@pytest.mark.parametrize(
    "text", ["", "- 1", "a: [", "kind: KubeSchedulerConfiguration\nkind: x\n", "7", "a: b\n---\nc: d\n"]
)
def test_text_that_is_no_configuration_is_refused(text: str) -> None:
    with pytest.raises(ConfigurationError) as refusal:
        load_configuration(text)
    assert refusal.value.stage == "decode"


def test_every_problem_of_a_stage_is_told() -> None:
    with pytest.raises(ConfigurationError) as refusal:
        load_configuration(document(parallelism=-1, podInitialBackoffSeconds=-2, percentageOfNodesToScore=500))
    assert len(refusal.value.problems) == 3


def test_gates_that_are_off_by_default_are_refused_by_name() -> None:
    with pytest.raises(ConfigError, match="GangScheduling"):
        load_configuration(None, gates={"GangScheduling": True})


def test_an_unknown_gate_is_refused_by_name() -> None:
    with pytest.raises(ConfigError, match="unrecognized feature gate: Nonsense"):
        load_configuration(None, gates={"Nonsense": False})


def test_the_one_gate_of_the_golden_data_can_be_switched_on() -> None:
    name = "TaintTolerationComparisonOperators"
    loaded = load_configuration(None, gates={name: True, "OpportunisticBatching": False})
    assert loaded.switched == {name: True, "OpportunisticBatching": False}


def test_nothing_that_is_loaded_changes_what_was_given() -> None:
    given = document(profiles=[{"pluginConfig": [{"name": "InterPodAffinity", "args": {}}]}])
    before = repr(given)
    load_configuration(given)
    assert repr(given) == before


def test_an_extender_is_read_with_its_defaults() -> None:
    managed = [{"name": "example.com/foo", "ignoredByScheduler": True}, {"name": "example.com/bar"}]
    loaded = load_configuration(
        document(extenders=[{"urlPrefix": "http://x", "httpTimeout": "1500ms", "managedResources": managed}])
    )
    (extender,) = loaded.extenders
    assert (extender.http_timeout, extender.managed_resources) == (1_500_000, ("example.com/foo", "example.com/bar"))
    assert extender.ignored_resources == ("example.com/foo",)
