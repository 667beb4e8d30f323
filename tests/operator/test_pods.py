"""The objects that the operator makes, without a cluster."""

from pathlib import Path
from typing import Any

from seatrial.operator.kinds import IMAGE
from seatrial.operator.pods import pod_for, service_for, service_name, simulator_for, url_of
from tests.operator.objects import simulation, simulator
from tests.proofs import proves

ETCD_IMAGE = "etcd:3.6.8"
DEFAULTS = {"kubeAPIServerPort": 3131, "simulatorServerPort": 1212, "image": IMAGE}


def served(document: dict[str, Any]) -> dict[str, Any]:
    """An object as the API server returns it."""
    document["metadata"]["uid"] = f"uid-{document['kind']}"
    spec = document["spec"]
    if document["kind"] == "SchedulerSimulation":
        spec["simulatorSpec"] = DEFAULTS | spec["simulatorSpec"]
        spec.setdefault("scenarioRunnerImage", IMAGE)
    else:
        document["spec"] = DEFAULTS | spec
    return document


def pod_of_simulation(**spec: Any) -> dict[str, Any]:
    made = simulator_for(served(simulation("one", Path("/data"), **spec)), IMAGE)
    return pod_for(served(made), IMAGE, ETCD_IMAGE)


def pod_of_simulator(**spec: Any) -> dict[str, Any]:
    return pod_for(served(simulator("one", **spec)), IMAGE, ETCD_IMAGE)


def container(pod: dict[str, Any], name: str) -> dict[str, Any]:
    return next(each for each in pod["spec"]["containers"] if each["name"] == name)


def environment(pod: dict[str, Any], name: str) -> dict[str, str]:
    return {each["name"]: each["value"] for each in container(pod, name)["env"]}


def names(pod: dict[str, Any]) -> set[str]:
    return {each["name"] for each in pod["spec"]["containers"]}


@proves("S-017", "S-027")
def test_the_pod_has_the_containers_of_the_flow() -> None:
    """A simulator that keeps its objects in etcd gets one, unless etcdURL names another."""
    assert names(pod_of_simulation()) == {"simulator", "scenario-runner"}
    other = {"image": "kube-scheduler-simulator:v0.4"}
    assert names(pod_of_simulation(simulator=other)) == {"simulator", "etcd", "scenario-runner"}
    with_url = other | {"etcdURL": "http://etcd:2379"}
    assert names(pod_of_simulation(simulator=with_url)) == {"simulator", "scenario-runner"}


@proves("S-026")
def test_the_runner_learns_port_and_paths_from_its_environment() -> None:
    """The port as text."""
    made = environment(pod_of_simulation(simulator={"kubeAPIServerPort": 9999}), "scenario-runner")
    assert made == {
        "SIMULATOR_KUBE_APISERVER_PORT": "9999",
        "SCENARIO_TEMPLATE_FILE_PATH": "/mnt/scenario.json",
        "SCENARIO_RESULT_FILE_PATH": "/mnt/result.json",
    }


@proves("S-016", "S-025")
def test_the_volume_is_mounted_at_mnt_of_the_runner() -> None:
    pod = pod_of_simulation()
    assert {"name": "files", "hostPath": {"path": "/data"}} in pod["spec"]["volumes"]
    assert {"name": "files", "mountPath": "/mnt"} in container(pod, "scenario-runner")["volumeMounts"]
    assert "/mnt" not in [mount["mountPath"] for mount in container(pod, "simulator")["volumeMounts"]]


def test_a_configuration_in_the_volume_is_mounted_in_the_simulator_too() -> None:
    pod = pod_of_simulation(simulator={"kubeSchedulerConfigurationPath": "/mnt/scheduler.yaml"})
    mounts = container(pod, "simulator")["volumeMounts"]
    assert {"name": "files", "mountPath": "/mnt", "readOnly": True} in mounts
    assert environment(pod, "simulator")["KUBE_SCHEDULER_CONFIG_PATH"] == "/mnt/scheduler.yaml"
    assert "--scheduler-config=$(KUBE_SCHEDULER_CONFIG_PATH)" in container(pod, "simulator")["args"]


def test_plugins_and_a_scheduler_of_the_volume_are_mounted_and_started() -> None:
    pod = pod_of_simulation(simulator={"schedulerPluginPaths": ["/mnt/mine.py"]})
    assert "--plugins=/mnt/mine.py" in container(pod, "simulator")["args"]
    mount = {"name": "files", "mountPath": "/mnt", "readOnly": True}
    assert mount in container(pod, "simulator")["volumeMounts"]
    pod = pod_of_simulation(simulator={"outsideScheduler": ["/mnt/my scheduler", "--config=/mnt/s.yaml"]})
    assert "--outside=scheduler='/mnt/my scheduler' --config=/mnt/s.yaml" in container(pod, "simulator")["args"]
    assert mount in container(pod, "simulator")["volumeMounts"]


@proves("S-038")
def test_the_simulator_has_the_environment_of_its_proposal() -> None:
    spec = {
        "kubeAPIServerPort": 3132,
        "simulatorServerPort": 1213,
        "etcdURL": "http://etcd:2379",
        "corsAllowedOriginList": ["http://a", "http://b"],
        "image": "kube-scheduler-simulator:v0.4",
    }
    pod = pod_of_simulator(**spec)
    assert environment(pod, "simulator") == {
        "KUBE_API_PORT": "3132",
        "PORT": "1213",
        "KUBE_SCHEDULER_SIMULATOR_ETCD_URL": "http://etcd:2379",
        "CORS_ALLOWED_ORIGIN_LIST": "http://a,http://b",
    }
    assert "args" not in container(pod, "simulator")
    assert [port["containerPort"] for port in container(pod, "simulator")["ports"]] == [3132, 1213]


@proves("S-038")
def test_containers_of_the_template_take_precedence_field_by_field() -> None:
    mine = {"name": "simulator", "resources": {"limits": {"cpu": "2"}}, "env": [{"name": "PORT", "value": "80"}]}
    template = {
        "metadata": {"labels": {"team": "a"}},
        "spec": {"containers": [mine, {"name": "sidecar", "image": "s"}], "nodeSelector": {"disk": "ssd"}},
    }
    pod = pod_of_simulator(podTemplate=template)
    assert names(pod) == {"simulator", "sidecar"}
    assert container(pod, "simulator")["resources"] == {"limits": {"cpu": "2"}}
    assert container(pod, "simulator")["image"] == IMAGE
    assert environment(pod, "simulator") == {"KUBE_API_PORT": "3131", "PORT": "80"}
    assert pod["spec"]["nodeSelector"] == {"disk": "ssd"}
    assert pod["metadata"]["labels"]["team"] == "a"


def test_a_template_changes_the_runner_as_well() -> None:
    template = {"spec": {"containers": [{"name": "scenario-runner", "args": ["scenario-runner", "--append-done"]}]}}
    pod = pod_of_simulation(simulator={"podTemplate": template})
    assert container(pod, "scenario-runner")["args"] == ["scenario-runner", "--append-done"]
    assert environment(pod, "scenario-runner")["SIMULATOR_KUBE_APISERVER_PORT"] == "3131"


def test_the_runner_is_never_started_again() -> None:
    pod = pod_of_simulation(simulator={"podTemplate": {"spec": {"restartPolicy": "Always"}}})
    assert pod["spec"]["restartPolicy"] == "Never"


def test_our_image_runs_without_rights() -> None:
    pod = pod_of_simulation()
    for name in ("simulator", "scenario-runner"):
        context = container(pod, name)["securityContext"]
        assert context["runAsNonRoot"]
        assert context["readOnlyRootFilesystem"]
        assert {"name": "tmp", "mountPath": "/tmp"} in container(pod, name)["volumeMounts"]
    assert pod["spec"]["automountServiceAccountToken"] is False


@proves("S-018")
def test_another_runner_image_gets_no_arguments_of_ours() -> None:
    """An image of one's own finds everything in its environment."""
    runner = container(pod_of_simulation(scenarioRunnerImage="mine:1"), "scenario-runner")
    assert runner["image"] == "mine:1"
    assert "args" not in runner


def test_a_version_of_our_image_is_ours() -> None:
    pod = pod_for(served(simulator("one", image="host:5000/team/seatrial@sha256:1")), "host:5000/team/seatrial:2", "")
    assert names(pod) == {"simulator"}


@proves("S-018")
def test_the_default_image_is_that_of_the_operator() -> None:
    """The definitions need not know where the image was pulled from."""
    pod = pod_for(served(simulator("one")), "host:5000/team/seatrial:2", "")
    assert container(pod, "simulator")["image"] == "host:5000/team/seatrial:2"
    assert names(pod) == {"simulator"}


def test_the_service_has_both_ports_and_the_address() -> None:
    made = served(simulator("one", kubeAPIServerPort=9999))
    assert [port["port"] for port in service_for(made)["spec"]["ports"]] == [9999, 1212]
    assert url_of(made) == "http://one.default.svc:9999"


def test_a_name_that_no_service_may_have_is_replaced() -> None:
    assert service_name("one") == "one"
    for name in ("1one", "a.b", "a" * 64):
        assert service_name(name).startswith("simulator-")
        assert len(service_name(name)) == 20


@proves("S-004")
def test_everything_is_owned() -> None:
    """The Simulator by the SchedulerSimulation, Pod and Service by the Simulator."""
    asked = served(simulation("one", Path("/data")))
    made = served(simulator_for(asked, IMAGE))
    for document, owner in ((made, asked), (pod_for(made, IMAGE, ""), made), (service_for(made), made)):
        [reference] = document["metadata"]["ownerReferences"]
        assert (reference["kind"], reference["uid"]) == (owner["kind"], owner["metadata"]["uid"])
        assert reference["controller"]
