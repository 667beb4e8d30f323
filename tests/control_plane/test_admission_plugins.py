"""Admission plugins can be switched off by upstream's names."""

import pytest

from seatrial.control_plane.admission_plugins import disabled_plugins
from seatrial.control_plane.components import Settings, build_store
from seatrial.model.errors import ConfigError, StatusError
from tests.controllers.objects import pod
from tests.known_kinds import known_kind


def test_disabled_plugins_do_not_run() -> None:
    quota = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "q"}, "spec": {"hard": {"pods": "0"}}}
    for disabled, refused in (("", True), ("ResourceQuota,DefaultTolerationSeconds", False)):
        store = build_store(Settings(disabled_plugins=disabled_plugins("", disabled))).store
        kinds = {name: known_kind(store.kinds, "v1", name) for name in ("Pod", "ResourceQuota")}
        store.create(kinds["ResourceQuota"], quota, namespace="default", writer="user:test")
        if refused:
            with pytest.raises(StatusError, match="exceeded quota"):
                store.create(kinds["Pod"], pod("a"), namespace="default", writer="user:test")
        else:
            made = store.create(kinds["Pod"], pod("a"), namespace="default", writer="user:test").document()
            assert "tolerations" not in made["spec"]


def test_an_unknown_plugin_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ConfigError, match=r"'AlwaysDeny' is not an admission plugin.*ResourceQuota"):
        disabled_plugins("AlwaysDeny", "")
