"""Our controllers leave a cluster as the real kube-controller-manager v1.36.3 leaves it.

Tests: controllers/cronjob/*.py, controllers/daemonset/*.py, controllers/deployment/*.py, controllers/job/*.py
Tests: controllers/namespace.py, controllers/node/*.py, controllers/persistentvolume/*.py
Tests: controllers/poddisruptionbudget.py, controllers/replicaset.py, controllers/resourcequota.py
Tests: controllers/statefulset/*.py, controllers/serviceaccount.py, controllers/ttlafterfinished.py
Tests: controllers/resourceclaim.py
"""

import json

import pytest

from tests.controllers.manifests import Manifest, all_manifests
from tests.controllers.replaying import replay


@pytest.mark.parametrize("manifest", all_manifests(), ids=lambda manifest: manifest.name)
def test_the_cluster_ends_as_with_the_real_controllers(manifest: Manifest) -> None:
    assert replay(manifest) == json.loads(manifest.golden.read_text())
