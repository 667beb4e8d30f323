"""MultiPoint (KEP-2891): what the sets of a profile expand to, row by row of its semantics table."""

import time
from collections.abc import Mapping
from typing import Any

import pytest

from seatrial.model.yaml_reader import dump
from seatrial.scheduler.config import Configuration, ConfigurationError, Profile, load_configuration
from seatrial.scheduler.config.types import CYCLE_POINTS
from seatrial.scheduler.config.writing import expanded_document, write_config, written_document
from seatrial.scheduler.versions import VERSIONS
from tests.proofs import proves
from tests.scheduler.plugins.upstream_plugins import DEFAULT_PLUGINS
from tests.scheduler.plugins.upstream_plugins import POINTS as IN_TREE

V1_36 = VERSIONS["1.36"]
"""The version whose plugins and points `upstream_plugins` lists."""
POINTS = (*CYCLE_POINTS, *V1_36.group_points)

V1 = "kubescheduler.config.k8s.io/v1"
XYZ = {"XYZ": ("preFilter", "filter", "preScore", "score")}
ALL_OFF = [{"name": "*"}]
TWICE = [{"name": "XYZ"}, {"name": "XYZ"}]


def configuration(
    plugins: Mapping[str, Any] | None, version: str = V1, known: Mapping[str, tuple[str, ...]] = XYZ, **top: Any
) -> Configuration:
    profile = {} if plugins is None else {"plugins": plugins}
    document = {"apiVersion": version, "kind": "KubeSchedulerConfiguration", "profiles": [profile], **top}
    return load_configuration(document, plugins=known, version=V1_36)


def profile(
    plugins: Mapping[str, Any] | None, version: str = V1, known: Mapping[str, tuple[str, ...]] = XYZ
) -> Profile:
    return configuration(plugins, version, known).profiles[0]


def names(one: Profile, point: str) -> list[str]:
    return [ref.name for ref in one.plugins[point]]


def points_with(one: Profile, plugin: str) -> set[str]:
    return {point for point in POINTS if plugin in names(one, point)}


def without(one: Profile, plugin: str) -> dict[str, list[str]]:
    return {point: [name for name in names(one, point) if name != plugin] for point in POINTS}


def refused(plugins: Mapping[str, Any], version: str = V1) -> ConfigurationError:
    with pytest.raises(ConfigurationError) as refusal:
        configuration(plugins, version)
    return refusal.value


DEFAULT = profile(None)


@proves("MP-001")
def test_a_profile_with_nothing_but_multipoint_has_plugins_at_all_points() -> None:
    """One field configures plugins that use several points."""
    wanted = [{"name": name} for name in ("PrioritySort", "DefaultBinder", "XYZ")]
    one = profile({"multiPoint": {"enabled": wanted, "disabled": ALL_OFF}})
    assert {point: names(one, point) for point in POINTS if names(one, point)} == {
        "queueSort": ["PrioritySort"],
        "preFilter": ["XYZ"],
        "filter": ["XYZ"],
        "preScore": ["XYZ"],
        "score": ["XYZ"],
        "bind": ["DefaultBinder"],
    }


@proves("MP-002")
def test_a_useful_configuration_is_eight_lines_long() -> None:
    """Simple for users."""
    text = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- plugins:
    multiPoint:
      enabled:
      - name: XYZ
        weight: 3"""
    assert len(text.splitlines()) <= 8
    assert points_with(load_configuration(text, plugins=XYZ).profiles[0], "XYZ") == set(XYZ["XYZ"])


@proves("MP-003", "MP-017")
@pytest.mark.parametrize("plugin", [name for name, _ in DEFAULT_PLUGINS])
def test_each_default_plugin_alone_gets_all_its_points(plugin: str) -> None:
    """Every in-tree plugin works through MultiPoint, by what it implements."""
    needed = [{"name": name} for name in dict.fromkeys((plugin, "PrioritySort", "DefaultBinder"))]
    one = profile({"multiPoint": {"enabled": needed, "disabled": ALL_OFF}})
    assert points_with(one, plugin) == set(IN_TREE[plugin])


@proves("MP-004", "MP-039")
def test_old_configurations_by_point_mean_what_they_meant() -> None:
    """Sets of single points go on working, in old versions too."""
    plugins = {"score": {"disabled": ALL_OFF, "enabled": [{"name": "ImageLocality", "weight": 7}]}}
    for version in (V1, "kubescheduler.config.k8s.io/v1beta3", "kubescheduler.config.k8s.io/v1beta2"):
        one = profile(plugins, version)
        assert [(ref.name, ref.weight) for ref in one.plugins["score"]] == [("ImageLocality", 7)]
        assert names(one, "filter") == names(DEFAULT, "filter")


@proves("MP-005", "MP-021", "MP-041", "MP-043")
@pytest.mark.parametrize("plugins", [None, {}, {"multiPoint": {}}, {"multiPoint": {"enabled": [], "disabled": []}}])
def test_an_absent_or_empty_field_changes_nothing(plugins: Any) -> None:
    """Set it and it acts; leave it out, or take it out again, and nothing does."""
    assert profile(plugins).plugins == DEFAULT.plugins


@proves("MP-006", "MP-034")
def test_story_1_enables_a_plugin_everywhere_with_its_weight() -> None:
    """Equal to spelling out each point."""
    short = profile({"multiPoint": {"enabled": [{"name": "XYZ", "weight": 3}]}})
    long = profile({point: {"enabled": [{"name": "XYZ", "weight": 3}]} for point in XYZ["XYZ"]})
    assert short.plugins == long.plugins
    assert short.plugins["score"][-1].weight == 3


@proves("MP-007")
def test_a_plugin_may_change_its_points_without_a_change_of_configuration() -> None:
    """The points are what the plugin implements now."""
    plugins = {"multiPoint": {"enabled": [{"name": "XYZ"}]}}
    assert points_with(profile(plugins, known={"XYZ": ("filter",)}), "XYZ") == {"filter"}
    assert points_with(profile(plugins, known={"XYZ": ("score", "reserve")}), "XYZ") == {"score", "reserve"}


@proves("MP-008", "MP-014")
def test_story_2_takes_a_plugin_out_of_some_points() -> None:
    """Off at PreScore and Score, the rest untouched."""
    one = profile(
        {
            "multiPoint": {"enabled": [{"name": "XYZ"}]},
            "preScore": {"disabled": ALL_OFF},
            "score": {"disabled": ALL_OFF},
        }
    )
    assert points_with(one, "XYZ") == {"preFilter", "filter"}
    assert (names(one, "preScore"), names(one, "score")) == ([], [])
    assert points_with(one, "VolumeBinding") == set(IN_TREE["VolumeBinding"]) - {"preScore", "score"}


@proves("MP-009")
@pytest.mark.parametrize("version", ["v1beta3", "v1beta2"])
def test_bare_strings_are_names_in_old_versions(version: str) -> None:
    """The KEP writes `disabled: ["*"]`."""
    one = profile({"score": {"disabled": ["*"]}}, f"kubescheduler.config.k8s.io/{version}")
    assert names(one, "score") == []


@proves("MP-009")
def test_bare_strings_are_errors_in_v1() -> None:
    """As upstream."""
    error = refused({"score": {"disabled": ["*"]}})
    assert (error.stage, "cannot unmarshal string" in error.message) == ("decode", True)


@proves("MP-013")
def test_the_example_of_the_kep_expands_as_it_says() -> None:
    """Newer versions have more points."""
    wanted = [{"name": "PodTopologySpread", "weight": 3}, {"name": "VolumeBinding"}, {"name": "PrioritySort"}]
    one = profile({"multiPoint": {"enabled": [*wanted, {"name": "DefaultBinder"}], "disabled": ALL_OFF}})
    assert points_with(one, "PodTopologySpread") == {"preFilter", "filter", "preScore", "score"}
    assert points_with(one, "VolumeBinding") == {"preFilter", "filter", "reserve", "preBind", "preScore", "score"}
    assert points_with(one, "PrioritySort") == {"queueSort"}
    assert [(ref.name, ref.weight) for ref in one.plugins["score"]] == [("PodTopologySpread", 3), ("VolumeBinding", 1)]


@proves("MP-015")
def test_the_default_configuration_is_written_as_multipoint() -> None:
    """Names, order and weights are the default set."""
    written = written_document(load_configuration(None, version=V1_36))["profiles"][0]["plugins"]
    assert written["multiPoint"]["enabled"] == [{"name": n, "weight": w or 0} for n, w in DEFAULT_PLUGINS]
    assert "multiPoint:" in write_config(load_configuration(None, version=V1_36))


@proves("MP-016")
def test_the_sets_of_multipoint_are_omitted_when_empty() -> None:
    """A PluginSet, written as `{}`."""
    wanted = [{"name": "PrioritySort"}, {"name": "DefaultBinder"}]
    one = configuration({"multiPoint": {"enabled": wanted, "disabled": ALL_OFF}})
    plugins = written_document(one)["profiles"][0]["plugins"]
    assert set(plugins["multiPoint"]) == {"enabled", "disabled"}
    assert plugins["score"] == {}


@proves("MP-018")
def test_arguments_reach_a_plugin_that_only_multipoint_enables() -> None:
    """Such a plugin is made, with its pluginConfig."""
    document = {
        "apiVersion": V1,
        "kind": "KubeSchedulerConfiguration",
        "profiles": [
            {
                "plugins": {"multiPoint": {"enabled": [{"name": "XYZ"}]}},
                "pluginConfig": [{"name": "XYZ", "args": {"depth": 2}}],
            }
        ],
    }
    assert load_configuration(document, plugins=XYZ).profiles[0].args["XYZ"] == {"depth": 2}


@proves("MP-019")
def test_the_order_of_the_fields_does_not_matter() -> None:
    """Expansion before or after the points gives the same."""
    plugins = {"multiPoint": {"enabled": [{"name": "XYZ"}]}, "score": {"enabled": [{"name": "ImageLocality"}]}}
    assert profile(plugins).plugins == profile(dict(reversed(plugins.items()))).plugins


@proves("MP-020")
def test_points_a_plugin_lacks_are_skipped_by_multipoint_and_refused_at_a_point() -> None:
    """No error from expansion; the point itself says no, as ever."""
    assert "score" not in points_with(profile({"multiPoint": {"enabled": [{"name": "NodeName"}]}}), "NodeName")
    assert (
        'plugin "NodeName" does not extend ScorePlugin plugin'
        in refused({"score": {"enabled": [{"name": "NodeName"}]}}).message
    )


@proves("MP-023")
def test_a_default_plugin_enabled_at_a_point_is_reordered_and_weighted() -> None:
    """Not a second registration."""
    one = profile({"score": {"enabled": [{"name": "ImageLocality", "weight": 9}]}})
    assert (one.plugins["score"][0].name, one.plugins["score"][0].weight) == ("ImageLocality", 9)
    assert sorted(names(one, "score")) == sorted(names(DEFAULT, "score"))


@proves("MP-024")
def test_a_default_plugin_disabled_at_a_point_is_off_there_only() -> None:
    one = profile({"score": {"disabled": [{"name": "NodeAffinity"}]}})
    assert points_with(one, "NodeAffinity") == {"preFilter", "filter", "preScore"}


@proves("MP-025", "MP-029", "MP-033", "MP-035")
@pytest.mark.parametrize("version", ["v1beta3", "v1beta2"])
@pytest.mark.parametrize("point", ["score", "filter", "multiPoint"])
def test_enabling_a_star_does_nothing_in_old_versions(point: str, version: str) -> None:
    one = profile({point: {"enabled": [{"name": "*"}]}}, f"kubescheduler.config.k8s.io/{version}")
    assert one.plugins == DEFAULT.plugins


@proves("MP-025")
def test_enabling_a_star_is_an_error_in_v1() -> None:
    """As upstream, where it is just a plugin that does not exist."""
    assert 'ScorePlugin "*" does not exist' in refused({"score": {"enabled": [{"name": "*"}]}}).message


@proves("MP-026", "MP-033")
def test_disabling_all_at_a_point_empties_it_for_multipoint_too() -> None:
    one = profile({"score": {"disabled": ALL_OFF}, "multiPoint": {"enabled": [{"name": "XYZ"}]}})
    assert names(one, "score") == []
    assert "XYZ" in names(one, "filter")


@proves("MP-027")
def test_a_default_plugin_enabled_in_multipoint_is_on_everywhere() -> None:
    """In its place, with the weight given."""
    one = profile({"multiPoint": {"enabled": [{"name": "NodeAffinity", "weight": 7}]}})
    assert {point: names(one, point) for point in POINTS} == {point: names(DEFAULT, point) for point in POINTS}
    assert {ref.name: ref.weight for ref in one.plugins["score"]}["NodeAffinity"] == 7


@proves("MP-028")
def test_a_default_plugin_disabled_in_multipoint_is_off_everywhere() -> None:
    one = profile({"multiPoint": {"disabled": [{"name": "InterPodAffinity"}]}})
    assert {point: names(one, point) for point in POINTS} == without(DEFAULT, "InterPodAffinity")


@proves("MP-030")
def test_disabling_all_in_multipoint_takes_the_default_plugins_off() -> None:
    """Which leaves no QueueSort and no Bind unless they are enabled again."""
    assert "only one queue sort plugin required" in refused({"multiPoint": {"disabled": ALL_OFF}}).message
    sort = {"multiPoint": {"disabled": ALL_OFF, "enabled": [{"name": "PrioritySort"}]}}
    assert "at least one bind plugin is needed" in refused(sort).message


@proves("MP-031")
def test_a_plugin_of_ones_own_is_enabled_at_a_point() -> None:
    one = profile({"filter": {"enabled": [{"name": "XYZ"}]}})
    assert points_with(one, "XYZ") == {"filter"}
    assert names(one, "filter") == [*names(DEFAULT, "filter"), "XYZ"]


@proves("MP-032", "MP-036")
def test_a_plugin_of_ones_own_is_disabled_at_a_point_although_multipoint_enables_it() -> None:
    """`disabled` acts on plugins that are not default ones."""
    one = profile({"multiPoint": {"enabled": [{"name": "XYZ"}]}, "filter": {"disabled": [{"name": "XYZ"}]}})
    assert points_with(one, "XYZ") == {"preFilter", "preScore", "score"}


@proves("MP-035")
@pytest.mark.parametrize("disabled", [[{"name": "XYZ"}], [{"name": "*"}]])
def test_disabling_a_plugin_of_ones_own_in_multipoint_does_nothing(disabled: list[Any]) -> None:
    """One that is enabled in the same set stays enabled."""
    wanted = [{"name": name} for name in ("XYZ", "PrioritySort", "DefaultBinder")]
    assert points_with(profile({"multiPoint": {"enabled": wanted, "disabled": disabled}}), "XYZ") == set(XYZ["XYZ"])


@proves("MP-038")
@pytest.mark.parametrize("version", ["v1", "v1beta3", "v1beta2"])
def test_versions_of_the_kep_and_the_present_one_are_read(version: str) -> None:
    """The older ones with a warning."""
    loaded = configuration({"multiPoint": {"enabled": [{"name": "XYZ"}]}}, f"kubescheduler.config.k8s.io/{version}")
    assert points_with(loaded.profiles[0], "XYZ") == set(XYZ["XYZ"])
    assert [version in warning for warning in loaded.warnings] == ([] if version == "v1" else [True])


@proves("MP-040")
def test_an_expanded_configuration_can_be_written_down_and_read_again() -> None:
    """For a downgrade."""
    loaded = configuration({"multiPoint": {"enabled": [{"name": "XYZ", "weight": 3}]}})
    text = dump(expanded_document(loaded))
    again = load_configuration(text, plugins=XYZ, version=V1_36)
    assert dump(expanded_document(again)) == text
    assert {p: again.profiles[0].plugins[p] for p in POINTS[:12]} == {
        p: loaded.profiles[0].plugins[p] for p in POINTS[:12]
    }


BEFORE_MULTIPOINT = {
    "queueSort": ["PrioritySort"],
    "preFilter": [
        "NodeResourcesFit", "NodePorts", "VolumeRestrictions", "PodTopologySpread", "InterPodAffinity", "VolumeBinding",
        "NodeAffinity",
    ],
    "filter": [
        "NodeUnschedulable", "NodeName", "TaintToleration", "NodeAffinity", "NodePorts", "NodeResourcesFit",
        "VolumeRestrictions", "NodeVolumeLimits", "VolumeBinding", "VolumeZone", "PodTopologySpread",
        "InterPodAffinity",
    ],
    "postFilter": ["DefaultPreemption"],
    "preScore": ["InterPodAffinity", "PodTopologySpread", "TaintToleration", "NodeAffinity"],
    "score": [
        "NodeResourcesBalancedAllocation", "ImageLocality", "InterPodAffinity", "NodeResourcesFit", "NodeAffinity",
        "PodTopologySpread", "TaintToleration",
    ],
    "reserve": ["VolumeBinding"],
    "permit": [],
    "preBind": ["VolumeBinding"],
    "bind": ["DefaultBinder"],
    "postBind": [],
}  # fmt: skip
"""The default plugins of v1.22 by point, without the volume limits of cloud providers, which were removed since."""
NEWER_POINTS = {
    "preFilter": {"NodeVolumeLimits", "VolumeZone", "DynamicResources", "NodeDeclaredFeatures"},
    "filter": {"DynamicResources", "NodeDeclaredFeatures"},
    "postFilter": {"DynamicResources"},
    "preScore": {"NodeResourcesFit", "NodeResourcesBalancedAllocation", "VolumeBinding"},
    "score": {"VolumeBinding", "DynamicResources"},
    "reserve": {"DynamicResources"},
    "preBind": {"DynamicResources"},
}
"""What v1.36 has besides: plugins and extension points that came later."""


@proves("MP-042")
@pytest.mark.parametrize("point", BEFORE_MULTIPOINT)
def test_the_default_plugins_are_those_from_before_multipoint(point: str) -> None:
    expanded = {ref.name for ref in load_configuration(None, version=V1_36).profiles[0].plugins[point]}
    assert expanded == set(BEFORE_MULTIPOINT[point]) | NEWER_POINTS.get(point, set())


@proves("MP-042")
def test_writing_the_default_plugins_by_point_changes_nothing() -> None:
    """As users did before there was MultiPoint."""
    default = load_configuration(None, version=V1_36).profiles[0]
    written = {
        point: {
            "disabled": [{"name": "*"}],
            "enabled": [{"name": ref.name} | ({"weight": ref.weight} if ref.weight else {}) for ref in refs],
        }
        for point, refs in default.plugins.items()
        if point in (*BEFORE_MULTIPOINT, "preEnqueue")
    }
    spelt = configuration(written).profiles[0]
    assert {point: spelt.plugins[point] for point in written} == {point: default.plugins[point] for point in written}


@proves("MP-037")
def test_an_expanded_configuration_has_every_point_of_the_cycle_and_no_other() -> None:
    """The default set as lists by point."""
    plugins = expanded_document(load_configuration(None, version=V1_36))["profiles"][0]["plugins"]
    assert list(plugins) == [
        "preEnqueue", "queueSort", "preFilter", "filter", "postFilter", "preScore",
        "score", "reserve", "permit", "preBind", "bind", "postBind",
    ]  # fmt: skip
    assert all(point["disabled"] == ALL_OFF for point in plugins.values())
    assert plugins["score"]["enabled"][0] == {"name": "TaintToleration", "weight": 3}
    assert plugins["filter"]["enabled"][0] == {"name": "NodeUnschedulable"}


@proves("MP-047")
def test_expansion_costs_a_moment() -> None:
    """Start-up only, 40 plugins in less than 10 ms."""
    known = {f"P{number}": ("preFilter", "filter", "score") for number in range(20)}
    plugins = {"multiPoint": {"enabled": [{"name": name} for name in known]}}
    durations = []
    for _ in range(5):
        start = time.process_time()
        configuration(plugins, known=known)
        durations.append(time.process_time() - start)
    assert min(durations) < 0.01


@proves("MP-012", "MP-044", "MP-048")
@pytest.mark.parametrize(
    ("plugins", "text"),
    [
        ({"multiPoint": {"enabled": TWICE}}, 'plugin "XYZ" already registered as "PreFilterPlugin"'),
        ({"multiPoint": {"enabled": [{"name": "Nobody"}]}}, 'PreFilterPlugin "Nobody" does not exist'),
        ({"score": {"enabled": TWICE}}, 'plugin "XYZ" already registered as "ScorePlugin"'),
        ({"queueSort": {"disabled": ALL_OFF}}, "only one queue sort plugin required"),
        ({"bind": {"disabled": ALL_OFF}}, "at least one bind plugin is needed"),
    ],
)
def test_what_cannot_be_built_is_refused_by_name(plugins: Any, text: str) -> None:
    error = refused(plugins)
    assert (error.stage, text in error.message) == ("build", True)


@proves("MP-048")
def test_overrides_come_first_then_multipoint_then_the_points_own() -> None:
    """And a weight of 0 is 1."""
    one = profile(
        {
            "score": {"enabled": [{"name": "Own"}, {"name": "ImageLocality", "weight": 0}]},
            "multiPoint": {"enabled": [{"name": "XYZ", "weight": 0}]},
        },
        known={**XYZ, "Own": ("score",)},
    )
    assert [names(one, "score")[0], *names(one, "score")[-2:]] == ["ImageLocality", "XYZ", "Own"]
    assert {ref.name: ref.weight for ref in one.plugins["score"] if ref.name in ("ImageLocality", "XYZ", "Own")} == {
        "ImageLocality": 1,
        "XYZ": 1,
        "Own": 1,
    }
