"""The Kubernetes API server: the store over HTTP."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from seatrial.server.api import KubernetesApi
    from seatrial.server.application import Application, Served
    from seatrial.server.cors import CrossOrigin
    from seatrial.server.metrics import Metrics
    from seatrial.server.name_generator import RandomIdentities
    from seatrial.server.origins import OriginCheck, is_loopback
    from seatrial.server.paths import Target
    from seatrial.server.worker_loop import Worker, WorkerLoop

__all__ = [
    "Application",
    "CrossOrigin",
    "KubernetesApi",
    "Metrics",
    "OriginCheck",
    "RandomIdentities",
    "Served",
    "Target",
    "Worker",
    "WorkerLoop",
    "is_loopback",
]

if not TYPE_CHECKING:
    from seatrial.model.lazy_exports import lazy_exports

    __getattr__ = lazy_exports(
        __name__,
        {
            "Application": "application",
            "CrossOrigin": "cors",
            "KubernetesApi": "api",
            "Metrics": "metrics",
            "OriginCheck": "origins",
            "RandomIdentities": "name_generator",
            "Served": "application",
            "Target": "paths",
            "Worker": "worker_loop",
            "WorkerLoop": "worker_loop",
            "is_loopback": "origins",
        },
    )
