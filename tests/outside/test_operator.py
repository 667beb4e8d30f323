"""The operator's tests once more: the user's cluster is the real kube-apiserver, etcd and kube-controller-manager.

The tests are those of tests/operator; only what they run against is another.
"""

from collections.abc import Iterator

import pytest
import yaml

from tests.operator.cluster import Cluster
from tests.operator.conftest import World
from tests.operator.kubelet import Kubelet
from tests.operator.processes import OperatorProcess
from tests.operator.test_failures import ended, test_a_failure_is_an_event, test_a_failure_says_why  # noqa: F401
from tests.operator.test_flow import (  # noqa: F401
    completed,
    log,
    test_a_claim_holds_template_and_result,
    test_a_simulation_completes,
    test_another_spec_restarts_the_pod_of_a_simulator,
    test_deleting_a_simulation_stops_it,
    test_events_tell_what_the_operator_did,
    test_its_steps_are_in_the_order_of_the_proposal,
    test_nothing_is_left_but_the_simulation,
    test_one_scenario_with_two_schedulers_shows_which_is_better,
    test_the_kinds_are_in_the_users_cluster_alone,
    test_the_pod_runs_simulator_and_runner,
    test_the_result_is_the_scenario_at_its_end,
    test_the_scenario_begins_after_the_pod,
    test_volumes_of_other_kinds,
)
from tests.operator.test_permissions import (  # noqa: F401
    IMAGES,
    NAMESPACE,
    Account,
    install,
    kubeconfig_of,
    test_nothing_can_be_taken_from_the_role,
    test_the_role_suffices,
)
from tests.outside.real_cluster import real_cluster


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with real_cluster(tmp_path_factory.mktemp("real")) as (_, made):
        yield made


@pytest.fixture(scope="module")
def world(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    directory = tmp_path_factory.mktemp("world")
    with (
        Kubelet(cluster, directory / "pods", IMAGES) as kubelet,
        OperatorProcess(cluster.kubeconfig, directory / "operator.log") as operator,
    ):
        yield World(cluster, kubelet, operator, directory)


@pytest.fixture(scope="module")
def account(cluster: Cluster, world: World, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Account]:
    directory = tmp_path_factory.mktemp("account")
    world.operator.stop()
    cluster.request("POST", "/api/v1/namespaces", {"metadata": {"name": NAMESPACE}})
    install(cluster)
    kubeconfig = directory / "operator.kubeconfig"
    kubeconfig.write_text(yaml.safe_dump(kubeconfig_of(cluster)))
    yield Account(cluster, kubeconfig, directory / "operator.log")
