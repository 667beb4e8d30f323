"""The controller of Simulators (KEP-159): one Pod and one Service each; another spec gets another Pod."""

from seatrial.model.documents import Document
from seatrial.operator.api_client import PODS, SERVICES, SIMULATORS, ApiClient, ApiError
from seatrial.operator.kinds import AVAILABLE, CREATING, PENDING
from seatrial.operator.pods import SIMULATOR, SPEC_HASH, is_own_image, is_owned, pod_for, service_for, spec_hash, url_of
from seatrial.operator.work_queue import BLOCKED

NO_ETCD = "the image {image} needs an etcd: set spec.etcdURL, or run the operator with --etcd-image"


class SimulatorController:
    """Brings a Simulator's Pod, Service and status in line with its spec."""

    def __init__(self, api: ApiClient, image: str, etcd_image: str) -> None:
        self._api = api
        self._image = image
        self._etcd_image = etcd_image

    async def reconcile(self, namespace: str, name: str) -> float | None:
        """Do what can be done now; seconds until the next look, None where an event will ask for it."""
        simulator = await self._api.get(SIMULATORS, namespace, name)
        if simulator is None or "deletionTimestamp" in simulator["metadata"]:
            return None
        try:
            why = await self._bring_service(simulator) or await self._bring_pod(simulator)
        except ApiError as error:
            if error.code in (401, 409, 410, 429) or error.code >= 500:
                raise
            why = str(error)
        if why:
            await self._show(simulator, PENDING, why)
            return BLOCKED
        pod = await self._api.get(PODS, namespace, name)
        await self._show(simulator, *phase_of(pod))
        return None

    async def _bring_service(self, simulator: Document) -> str:
        """Create the Service or change its ports; why that is not possible, else the empty text."""
        wanted = service_for(simulator)
        metadata = wanted["metadata"]
        found = await self._api.get(SERVICES, metadata["namespace"], metadata["name"])
        if found is None:
            made = await self._api.create(SERVICES, wanted)
            return "" if made is not None else "waiting for the Service"
        if not is_owned(found, simulator):
            return f"a Service {metadata['name']} exists that this Simulator does not own"
        if [port["port"] for port in found["spec"]["ports"]] != [port["port"] for port in wanted["spec"]["ports"]]:
            await self._api.patch(SERVICES, found, {"spec": {"ports": wanted["spec"]["ports"]}})
        return ""

    async def _bring_pod(self, simulator: Document) -> str:
        """Create the Pod, or delete one that has to be made again; why that is not possible, else the empty text."""
        spec, metadata = simulator["spec"], simulator["metadata"]
        if not self._etcd_image and not spec.get("etcdURL") and not is_own_image(spec["image"], self._image):
            return NO_ETCD.format(image=spec["image"])
        pod = await self._api.get(PODS, metadata["namespace"], metadata["name"])
        if pod is None:
            made = await self._api.create(PODS, pod_for(simulator, self._image, self._etcd_image))
            return "" if made is not None else "waiting for the Pod"
        if not is_owned(pod, simulator):
            return f"a Pod {metadata['name']} exists that this Simulator does not own"
        if "deletionTimestamp" not in pod["metadata"] and must_be_replaced(pod, simulator):
            await self._api.delete(PODS, pod)
        return ""

    async def _show(self, simulator: Document, phase: str, message: str) -> None:
        url = "" if phase == PENDING else url_of(simulator)
        status = {"phase": phase, "message": message, "kubeAPIServerURL": url}
        shown = simulator.get("status") or {}
        if any(shown.get(key, "") != value for key, value in status.items()):
            await self._api.patch(SIMULATORS, simulator, {"status": status}, "status")


def must_be_replaced(pod: Document, simulator: Document) -> bool:
    """Whether the Pod was made from another spec, or has ended though it should run on.

    A Pod that is not to be restarted stays as it ended: its SchedulerSimulation reads how.
    """
    if (pod["metadata"].get("annotations") or {}).get(SPEC_HASH) != spec_hash(simulator):
        return True
    ended = (pod.get("status") or {}).get("phase") in ("Failed", "Succeeded")
    return ended and pod["spec"].get("restartPolicy", "Always") == "Always"


def phase_of(pod: Document | None) -> tuple[str, str]:
    """Phase and message of a Simulator with this Pod."""
    if pod is None or "deletionTimestamp" in pod["metadata"]:
        return CREATING, "the Pod is being replaced"
    status = pod.get("status") or {}
    statuses = {each["name"]: each for each in status.get("containerStatuses") or ()}
    if (statuses.get(SIMULATOR) or {}).get("ready"):
        return AVAILABLE, ""
    for container in statuses.values():
        for state in (container.get("state") or {}).values():
            if state and (state.get("reason") or state.get("message")):
                said = ": ".join(filter(None, (state.get("reason"), state.get("message"))))
                return CREATING, f"container {container['name']}: {said}"
    for condition in status.get("conditions") or ():
        if condition["type"] == "PodScheduled" and condition["status"] == "False":
            return CREATING, f"the Pod is not scheduled: {condition.get('message') or condition.get('reason', '')}"
    return CREATING, "waiting for the container simulator to be ready"
