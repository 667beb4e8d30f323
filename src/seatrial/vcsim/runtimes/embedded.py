"""The runtime that needs nothing: `seatrial serve` with Volcano, as a background process."""

import os
import subprocess
import sys
import time
from typing import Final

import orjson

from seatrial.model.errors import ConfigError
from seatrial.vcsim import processes
from seatrial.vcsim.clocks import rfc3339, utc
from seatrial.vcsim.kinds import SimulatorCluster
from seatrial.vcsim.nodes import cluster_nodes
from seatrial.vcsim.runtimes import Health, RuntimeOptions
from seatrial.vcsim.state import ClusterHome, ClusterRecord

READY_WITHIN: Final = 120.0
LOOK_EVERY: Final = 0.02
READY: Final = "ready: "
_SEATRIAL: Final = "from seatrial.cli.main import main; main()"
_LOG_LINES: Final = 8


class Embedded:
    """Our API server, controllers and Volcano scheduler in one process."""

    name = "embedded"
    difference = (
        "API server, controllers and Volcano scheduler are simulated in one process: "
        "decisions are Volcano's, speed is that of this program"
    )

    def missing(self, options: RuntimeOptions) -> list[str]:
        return []

    def create(self, cluster: SimulatorCluster, home: ClusterHome, options: RuntimeOptions) -> ClusterRecord:
        nodes = {"apiVersion": "v1", "kind": "List", "items": cluster_nodes(cluster, utc())}
        home.nodes.write_bytes(orjson.dumps(nodes))
        made = self._serve(home, rfc3339(time.time()), "--snapshot", str(home.nodes))
        home.nodes.unlink()
        return made

    def start(self, home: ClusterHome, record: ClusterRecord) -> ClusterRecord:
        return self._serve(home, record.created)

    def _serve(self, home: ClusterHome, created: str, *more: str) -> ClusterRecord:
        environment = os.environ | {"PYTHONUNBUFFERED": "1"}
        process = processes.start([*_command(home), *more], home.log, home.root, environment)
        try:
            url = _wait(process, home)
        except BaseException:
            process.kill()
            process.wait()
            raise
        return ClusterRecord(self.name, url, process.pid, processes.start_time(process.pid), created)

    def health(self, home: ClusterHome, record: ClusterRecord) -> Health:
        if not processes.is_running(record.pid, record.started):
            reason = f"its server (pid {record.pid}) has ended; the last lines of {home.log} may say why"
            return Health("Stopped", f"{reason}; `vcsimctl start cluster {home.name}` starts it with its data")
        return Health("Running", memory=processes.memory(record.pid))

    def delete(self, home: ClusterHome, record: ClusterRecord) -> None:
        processes.stop(record.pid, record.started)


def _command(home: ClusterHome) -> list[str]:
    command = [sys.executable, "-c", _SEATRIAL, "serve", "--port", "0", "--record", "none", "--volcano"]
    command += ["--kubeconfig", str(home.kubeconfig), "--data-dir", str(home.root / "data")]
    if home.volcano_config.exists():
        command += ["--volcano-config", str(home.volcano_config)]
    return command


def _wait(process: subprocess.Popen[bytes], home: ClusterHome) -> str:
    """Wait until the server answers; its address."""
    end = time.monotonic() + READY_WITHIN
    while time.monotonic() < end:
        lines = home.log.read_text(errors="replace").splitlines()
        for line in lines:
            if line.startswith(READY):
                return line.removeprefix(READY)
        if process.poll() is not None:
            said = "\n".join(lines[-_LOG_LINES:]) or f"exit code {process.returncode}"
            raise ConfigError("", "server", f"did not start:\n{said}")
        time.sleep(LOOK_EVERY)
    raise ConfigError("", "server", f"not ready within {READY_WITHIN:.0f} s; see {home.log}")
