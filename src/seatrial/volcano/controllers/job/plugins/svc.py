"""svc: pods of a Job find each other by name, and no others reach them. Upstream: pkg/controllers/job/plugins/svc."""

from seatrial.model.documents import Document
from seatrial.volcano.apis.labels import JOB_NAME, JOB_NAMESPACE
from seatrial.volcano.controllers.job.plugins.interface import JobPlugin, Owner, containers_of, hosts_of

CONFIG_MAP, SERVICE = ("v1", "ConfigMap"), ("v1", "Service")
NETWORK_POLICY = ("networking.k8s.io/v1", "NetworkPolicy")
MOUNT_PATH = "/etc/volcano"
OPEN = "disable-network-policy"


class Svc(JobPlugin):
    """A headless Service, a ConfigMap of the hosts of every task, and a NetworkPolicy."""

    def on_pod_create(self, job: Document, pod: Document) -> None:
        spec, name = pod["spec"], _config_map(job)
        spec.setdefault("hostname", pod["metadata"]["name"])
        spec.setdefault("subdomain", job["metadata"]["name"])
        spec.setdefault("volumes", []).append({"name": name, "configMap": {"name": name}})
        keys = [key for task in job["spec"]["tasks"] for key in _variables(task)]
        for container in containers_of(pod):
            container.setdefault("env", []).extend(
                {"name": key, "valueFrom": {"configMapKeyRef": {"name": name, "key": key}}} for key in keys
            )
            container.setdefault("volumeMounts", []).append({"mountPath": MOUNT_PATH, "name": name})

    def on_job_add(self, owner: Owner, job: Document) -> None:
        name, pods = job["metadata"]["name"], _pods(job)
        owner.create_or_update(job, CONFIG_MAP, _config_map(job), _hosts(job))
        published = {"publishNotReadyAddresses": True} if self.switch("publish-not-ready-addresses") else {}
        owner.create(job, SERVICE, name, spec={"clusterIP": "None", "selector": pods, **published})
        if not self.switch(OPEN):
            selector = {"matchLabels": pods}
            ingress = [{"from": [{"podSelector": selector}]}]
            spec = {"podSelector": selector, "ingress": ingress, "policyTypes": ["Ingress"]}
            owner.create(job, NETWORK_POLICY, name, spec=spec)

    def on_job_update(self, owner: Owner, job: Document) -> None:
        owner.create_or_update(job, CONFIG_MAP, _config_map(job), _hosts(job))

    def on_job_delete(self, owner: Owner, job: Document) -> None:
        name = job["metadata"]["name"]
        owner.delete(job, CONFIG_MAP, _config_map(job))
        owner.delete(job, SERVICE, name)
        if not self.switch(OPEN):
            owner.delete(job, NETWORK_POLICY, name)


def _config_map(job: Document) -> str:
    return f"{job['metadata']['name']}-svc"


def _pods(job: Document) -> dict[str, str]:
    return {JOB_NAME: job["metadata"]["name"], JOB_NAMESPACE: job["metadata"]["namespace"]}


def _variables(task: Document) -> tuple[str, str]:
    """The variables with the hosts of a task and their number."""
    key = task["name"].replace("-", "_").upper()
    return f"VC_{key}_HOSTS", f"VC_{key}_NUM"


def _hosts(job: Document) -> dict[str, str]:
    found = {}
    for task in job["spec"]["tasks"]:
        hosts = [f"{host}.{subdomain}" for host, subdomain in hosts_of(job, task)]
        listed, number = _variables(task)
        found[f"{task['name'].replace('-', '_')}.host"] = "\n".join(hosts)
        found[listed], found[number] = ",".join(hosts), str(len(hosts))
    return found
