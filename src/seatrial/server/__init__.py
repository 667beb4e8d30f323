"""The Kubernetes API server: the store over HTTP."""

from seatrial.model.lazy_exports import TYPE_CHECKING, lazy_exports

if TYPE_CHECKING:
    from seatrial.server.api import KubernetesApi
    from seatrial.server.application import Application, Served
    from seatrial.server.client_certificates import CERTIFICATE_USER
    from seatrial.server.cors import CrossOrigin
    from seatrial.server.metrics import Metrics, process_lines
    from seatrial.server.name_generator import RandomIdentities
    from seatrial.server.origins import OriginCheck, is_loopback
    from seatrial.server.paths import Target
    from seatrial.server.timed_socket import TimedSocket
    from seatrial.server.worker_loop import Worker, WorkerLoop
else:
    __getattr__, __dir__ = lazy_exports(__name__)
