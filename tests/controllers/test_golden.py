"""Our controllers leave a cluster as the real kube-controller-manager v1.36.3 leaves it."""

import json

import pytest

from tests.controllers.manifests import Manifest, all_manifests
from tests.controllers.replaying import replay


@pytest.mark.parametrize("manifest", all_manifests(), ids=lambda manifest: manifest.name)
def test_the_cluster_ends_as_with_the_real_controllers(manifest: Manifest) -> None:
    assert replay(manifest) == json.loads(manifest.golden.read_text())
