"""Volcano's configuration file is read as Volcano reads it."""

import pytest

from seatrial.model.errors import ConfigError
from seatrial.volcano.config.arguments import Arguments
from seatrial.volcano.config.scheduler_conf import helm_conf, load_conf
from seatrial.volcano.plugins.registry import PLUGINS

TIERS = "tiers:\n- plugins:\n  - name: gang\n"


def test_flags_are_on_unless_the_file_turns_them_off() -> None:
    conf = load_conf('actions: "allocate"\ntiers:\n- plugins:\n  - name: gang\n    enableJobReady: false\n')
    (gang,) = conf.tiers[0]
    assert not gang.enables("enableJobReady")
    assert gang.enables("enableJobPipelined")
    assert not gang.hierarchy


def test_an_unknown_action_rejects_the_file() -> None:
    with pytest.raises(ConfigError, match="failed to find Action fly"):
        load_conf('actions: "allocate, fly"\n' + TIERS, "my.conf")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("tiers: {plugins: [{name: gang}]}", r"tiers: expected a list"),
        ("tiers: [gang]", r"tiers\[0\]: expected a mapping, got 'gang'"),
        ("tiers: [{plugins: gang}]", r"tiers\[0\]\.plugins: expected a list, got 'gang'"),
        ("tiers: [{plugins: [gang]}]", r"tiers\[0\]\.plugins\[0\]: expected a mapping, got 'gang'"),
        (
            "tiers: [{plugins: [{name: gang, arguments: 3}]}]",
            r"tiers\[0\]\.plugins\[0\]\.arguments: expected a mapping",
        ),
        ("configurations: [enqueue]", r"configurations\[0\]: expected a mapping, got 'enqueue'"),
        ("configurations: [{name: enqueue, arguments: [1]}]", r"configurations\[0\]\.arguments: expected a mapping"),
    ],
)
def test_a_value_of_another_type_is_refused_with_its_place(text: str, why: str) -> None:
    with pytest.raises(ConfigError, match=rf"my\.conf: {why}"):
        load_conf(f"actions: allocate\n{text}\n", "my.conf", plugins=PLUGINS)


def test_a_misspelt_field_is_reported_and_ignored(caplog: pytest.LogCaptureFixture) -> None:
    text = "actions: allocate\ntierss: []\ntiers: [{plugins: [{name: gang, enabledJobOrder: false}]}]\n"
    conf = load_conf(text, "my.conf", plugins=PLUGINS)
    assert conf.tiers[0][0].enables("enableJobOrder")
    assert "my.conf: tierss: unknown field" in caplog.text
    assert "my.conf: tiers[0].plugins[0].enabledJobOrder: unknown field" in caplog.text


def test_an_unknown_plugin_is_named_with_its_place() -> None:
    with pytest.raises(ConfigError, match=r"my.conf: tiers\[0\].plugins\[0\].name: unknown plugin gnag"):
        load_conf('actions: "allocate"\ntiers:\n- plugins:\n  - name: gnag\n', "my.conf", plugins=PLUGINS)


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (
            "{deviceshare.AscendHAMiVNPUEnable: true}",
            "VNPUEnable: is not simulated; only deviceshare.GPUSharingEnable,",
        ),
        ("{deviceshare.VGPUEnable: true, deviceshare.GPUNumberEnable: true}", "cannot be true together with"),
        ("{deviceshare.GPUSharingEnable: true, deviceshare.GPUNumberEnable: true}", "cannot be true together with"),
    ],
)
def test_devices_that_are_not_simulated_reject_the_file(arguments: str, why: str) -> None:
    text = f'actions: "allocate"\ntiers:\n- plugins:\n  - name: deviceshare\n    arguments: {arguments}\n'
    with pytest.raises(ConfigError, match=rf"my.conf: tiers\[0\].plugins\[0\].arguments.deviceshare.*{why}"):
        load_conf(text, "my.conf", plugins=PLUGINS)


def test_proportion_and_hierarchical_drf_exclude_each_other_in_a_tier() -> None:
    text = "tiers:\n- plugins:\n  - name: proportion\n  - name: drf\n    enableHierarchy: true\n"
    with pytest.raises(ConfigError, match="conflicts"):
        load_conf('actions: "allocate"\n' + text)


def test_the_helm_default_adds_binpack_and_spares_victims_of_gang_and_drf() -> None:
    first, second = helm_conf().tiers
    assert [option.name for option in second][-1] == "binpack"
    assert [option.name for option in (*first, *second) if not option.enables("enablePreemptable")] == ["gang", "drf"]


@pytest.mark.parametrize(
    ("value", "integer", "number", "boolean"),
    [(3, 3, 3.0, False), (2.5, 7, 2.5, False), ("true", 7, 0.5, True), (True, 7, 0.5, True), ("3", 7, 0.5, False)],
)
def test_an_argument_of_another_type_is_ignored(value: object, integer: int, number: float, boolean: bool) -> None:
    arguments = Arguments({"key": value})
    assert arguments.integer("key", 7) == integer
    assert arguments.number("key", 0.5) == number
    assert arguments.boolean("key", False) == boolean
