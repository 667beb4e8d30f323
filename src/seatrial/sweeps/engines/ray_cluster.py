"""Points on a Ray cluster: the code of Seatrial and the bundle are sent to each machine once.

Ray runs a task again when its process or machine is lost. It is an extra (`seatrial[ray]`) and imported here alone.
"""

import pickle
import socket
from collections.abc import Iterable, Iterator
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Any

import seatrial
from seatrial.model.errors import ConfigError
from seatrial.sweeps.bundle import Bundle
from seatrial.sweeps.points import Point
from seatrial.sweeps.worker import FAILED, Outcome, Worker

IN_HAND = 2
"""Points for each CPU of the cluster."""
RETRIES = 3
"""How often Ray runs a task again whose process or machine is lost."""


class RayEngine:
    """A connection to a cluster; without an address, a cluster of this machine that ends with the sweep."""

    def __init__(self, bundle: Bundle, address: str | None) -> None:
        try:
            import ray
        except ImportError as error:
            raise ConfigError("", "--engine", "ray is not installed: pip install 'seatrial[ray]'") from error
        self._ray: Any = ray
        _check_address(address)
        code = str(Path(seatrial.__file__).parent)
        try:
            ray.init(
                address=address,
                runtime_env={"py_modules": [code]},
                log_to_driver=False,
                logging_level="ERROR",
            )
        except (ConnectionError, ValueError, RuntimeError) as error:
            raise ConfigError("", "--address", f"no Ray cluster: {' '.join(str(error).split())}") from error
        content = pickle.dumps(bundle)
        # In a list, the reference is passed on as it is: a process gets the content when it sees the digest first.
        self._content = [ray.put(content)]
        self._digest = sha256(content).hexdigest()
        self._run = ray.remote(num_cpus=1, max_retries=RETRIES)(_run)

    def outcomes(self, points: Iterable[Point]) -> Iterator[Outcome]:
        waiting, ray = iter(points), self._ray
        running: dict[Any, Point] = {}
        while True:
            room = IN_HAND * max(1, int(ray.cluster_resources().get("CPU", 1))) - len(running)
            for point in islice(waiting, max(0, room)):
                running[self._run.remote(self._digest, self._content, point)] = point
            if not running:
                return
            done, _ = ray.wait(list(running))
            for reference in done:
                point = running.pop(reference)
                try:
                    yield ray.get(reference)
                except ray.exceptions.RayError as error:
                    yield Outcome(
                        point.number, FAILED, f"{type(error).__name__}: {str(error).strip().splitlines()[-1]}"
                    )

    def close(self) -> None:
        self._ray.shutdown()


def _check_address(address: str | None) -> None:
    """Refuse an address at which nothing listens; Ray itself tries for minutes."""
    host, _, port = (address or "").removeprefix("ray://").rpartition(":")
    if not host or not port.isdigit():
        return
    try:
        socket.create_connection((host, int(port)), timeout=10).close()
    except (OSError, OverflowError) as error:
        raise ConfigError("", "--address", f"no Ray cluster at {address}: {error}") from error


_workers: dict[str, Worker] = {}
"""The worker of this process, by the digest of its bundle."""


def _run(digest: str, content: list[Any], point: Point) -> Outcome:
    """A task of the cluster."""
    import ray

    if digest not in _workers:
        _workers.clear()
        _workers[digest] = Worker(pickle.loads(ray.get(content[0])))
    return _workers[digest].run(point)
