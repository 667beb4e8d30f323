"""Bad and absurd pods: refused with the path of what is wrong, or judged as upstream judges them, never a crash."""

from typing import Any

import pytest

from seatrial.model.errors import BadRequest, Invalid, StatusError
from seatrial.model.yaml_reader import YamlError, load_all
from seatrial.scheduler.schedule_one.decision import ERROR, SCHEDULED, UNSCHEDULABLE
from seatrial.store.options import CreateOptions
from tests.scheduler.scheduler_world import World

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
MANY = 10_000
NUMBER = r"quantities must match the regular expression"


def term(number: int = 0, **more: Any) -> dict[str, Any]:
    selector = {"matchLabels": {"app": f"a{number}"}}
    return {"labelSelector": selector, "topologyKey": "kubernetes.io/hostname", **more}


def near(terms: Any, point: str = REQUIRED) -> dict[str, Any]:
    return {"affinity": {"podAffinity": {point: terms}}}


def apart(terms: Any) -> dict[str, Any]:
    return {"affinity": {"podAntiAffinity": {REQUIRED: terms}}}


def on_nodes(*requirements: dict[str, Any], field: str = "matchExpressions") -> dict[str, Any]:
    return {"affinity": {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": [{field: list(requirements)}]}}}}


def asking(**requests: Any) -> dict[str, Any]:
    return {"containers": [{"name": "c", "image": "i", "resources": {"requests": requests}}]}


def spread(**more: Any) -> dict[str, Any]:
    constraint = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule", **more}
    return {"topologySpreadConstraints": [constraint]}


def zone(number: int) -> dict[str, Any]:
    return {"key": "zone", "operator": "In", "values": [str(number)]}


def ordinary_world() -> World:
    world = World()
    world.node("n1")
    world.node("n2")
    return world


@pytest.mark.parametrize(
    ("spec", "outcome"),
    [
        pytest.param(near([term(number) for number in range(MANY)]), UNSCHEDULABLE, id="affinity"),
        pytest.param(apart([term(number) for number in range(MANY)]), SCHEDULED, id="anti-affinity"),
        pytest.param(apart([term()] * MANY), SCHEDULED, id="one term again and again"),
        pytest.param(
            near([{"weight": 1 + number % 100, "podAffinityTerm": term(number)} for number in range(MANY)], PREFERRED),
            SCHEDULED,
            id="preferences",
        ),
        pytest.param(
            {
                "affinity": {
                    "nodeAffinity": {
                        REQUIRED: {"nodeSelectorTerms": [{"matchExpressions": [zone(n)]} for n in range(MANY)]}
                    }
                }
            },
            UNSCHEDULABLE,
            id="terms on nodes",
        ),
        pytest.param(
            {"tolerations": [{"key": f"k{number}", "operator": "Exists"} for number in range(MANY)]},
            SCHEDULED,
            id="tolerations",
        ),
    ],
)
def test_ten_thousand_terms_are_judged(spec: dict[str, Any], outcome: str) -> None:
    world = ordinary_world()
    world.pod("absurd", **spec)
    (decision,) = world.run()
    assert decision.outcome == outcome
    world.pod("ordinary")
    assert world.run()[-1].outcome == SCHEDULED


@pytest.mark.parametrize(
    ("spec", "path"),
    [
        (
            near([{"labelSelector": {"matchExpressions": [{"key": "a", "operator": "Odd"}]}, "topologyKey": "z"}]),
            "oper",
        ),
        (near([term(labelSelector={"matchExpressions": [{"key": "a", "operator": "In"}]})]), r"matchExpressions\[0\]"),
        (apart([term(labelSelector={"matchLabels": {"!!!": "x"}})]), "labelSelector.matchLabels"),
        (apart([term(labelSelector={"matchLabels": {"a": "-----"}})]), "labelSelector.matchLabels"),
        (apart([term(topologyKey="")]), r"podAntiAffinity\..*\[0\]\.topologyKey"),
        (apart([term(topologyKey="x" * 5000)]), r"podAntiAffinity\..*\[0\]\.topologyKey"),
        (spread(maxSkew=0), r"topologySpreadConstraints\[0\]\.maxSkew"),
        (on_nodes({"key": "x", "operator": "Gt", "values": ["9" * 400]}), r"matchExpressions\[0\]\.values\[0\]"),
        (on_nodes({"key": "spec.x", "operator": "In", "values": ["a"]}, field="matchFields"), r"matchFields\[0\]\.key"),
        (asking(cpu="-1"), r"containers\[0\]\.resources\.requests"),
        (asking(**{"example.com/gpu": "1m"}), r"requests\[example\.com/gpu\].*must be an integer"),
    ],
)
def test_what_the_api_does_not_allow_is_refused_with_its_path(spec: dict[str, Any], path: str) -> None:
    with pytest.raises(Invalid, match=path):
        ordinary_world().pod("bad", **spec)


NO_AMOUNTS: list[Any] = ["NaN", "nan", "Inf", "0x10", "", "1 Gi", [], {}, True]


@pytest.mark.parametrize(
    ("spec", "why"),
    [
        (near({"a": 1}), "cannot unmarshal object.*podAffinity"),
        ({"affinity": [1]}, "cannot unmarshal array.*spec.affinity"),
        ({"priority": "high"}, "cannot unmarshal string.*spec.priority"),
        ({"priority": 2**40}, "cannot unmarshal number.*spec.priority"),
        ({"nodeSelector": {"a": 1}}, "cannot unmarshal number.*spec.nodeSelector"),
        (near([{"weight": 10**12, "podAffinityTerm": term()}], PREFERRED), "cannot unmarshal number.*weight"),
        (spread(maxSkew=2**31), "cannot unmarshal number.*maxSkew"),
        *((asking(memory=amount), NUMBER) for amount in NO_AMOUNTS),
        (asking(memory="1KK"), "unable to parse quantity's suffix"),
    ],
)
def test_wrong_types_and_amounts_that_are_no_numbers_are_refused(spec: dict[str, Any], why: str) -> None:
    with pytest.raises(BadRequest, match=why):
        ordinary_world().pod("bad", **spec)


def test_unknown_fields_are_named_where_they_are_not_dropped() -> None:
    world = ordinary_world()
    spec = {"containers": [{"name": "c", "image": "i"}], "nodeSelektor": {"a": "b"}}
    document = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "odd", "namespace": "default"}, "spec": spec}
    options = CreateOptions(field_validation="Strict")
    with pytest.raises(StatusError, match=r'unknown field "spec\.nodeSelektor"'):
        world.store.create(world.kind("Pod"), document, writer="user:test", namespace="default", options=options)
    world.store.create(world.kind("Pod"), document, writer="user:test", namespace="default")
    assert [decision.outcome for decision in world.run()] == [SCHEDULED]


def test_no_yaml_says_nan() -> None:
    with pytest.raises(YamlError, match="line 1"):
        load_all("cpu: .nan")


@pytest.mark.parametrize(
    ("amount", "outcome"),
    [
        ("1e400", SCHEDULED),
        ("1e-400", SCHEDULED),
        ("99999999999999999999", UNSCHEDULABLE),
        ("9" * 400, ERROR),
    ],
)
def test_amounts_beyond_64_bits_count_as_they_do_in_go(amount: str, outcome: str) -> None:
    """No power of ten fits: it is 0; digits are cut to their last 64 bits, and may be less than nothing."""
    world = ordinary_world()
    world.pod("absurd", **asking(cpu=amount, memory=amount))
    assert world.run()[0].outcome == outcome


def test_a_comparison_with_a_word_picks_no_node() -> None:
    world = ordinary_world()
    world.pod("odd", **on_nodes({"key": "x", "operator": "Gt", "values": ["abc"]}))
    (decision,) = world.run()
    assert decision.outcome == UNSCHEDULABLE
    assert "2 node(s) didn't match Pod's node affinity/selector" in decision.message


def test_a_node_may_offer_absurd_amounts() -> None:
    world = ordinary_world()
    world.node("vast", cpu="1E30")
    world.node("odd", cpu="9" * 400)
    world.pod("ordinary")
    assert world.run()[0].outcome == SCHEDULED
