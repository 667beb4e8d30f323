"""What the runtimes with a real control plane share: programs of others, found before anything is made."""

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import orjson

from seatrial.model.errors import ConfigError
from seatrial.vcsim.clocks import utc
from seatrial.vcsim.kinds import SimulatorCluster
from seatrial.vcsim.nodes import cluster_nodes
from seatrial.vcsim.runtimes import RuntimeOptions
from seatrial.vcsim.state import ClusterHome

LIMIT: Final = 600
"""Seconds that a program of others may take."""
KWOK: Final = {"kwok.x-k8s.io/node": "fake"}
"""KWOK looks after the nodes that carry this annotation."""


def program(name: str, options: RuntimeOptions) -> Path | None:
    """Where a program is: the path given, or the one on PATH."""
    given = options.binaries.get(name)
    if given is not None:
        return given if given.is_file() else None
    found = shutil.which(name)
    return Path(found) if found else None


def missing_programs(names: Sequence[str], options: RuntimeOptions, remedy: str) -> list[str]:
    """The programs that are not there, each with what to do about it."""
    found = []
    for name in names:
        if program(name, options) is None:
            given = options.binaries.get(name)
            found.append(f"{name}: {f'{given} is no file' if given is not None else 'not found on PATH'}; {remedy}")
    return found


def execute(command: Sequence[str], log: Path) -> str:
    """What a program prints; ConfigError with its last words where it fails."""
    with log.open("ab") as output:
        output.write(f"$ {' '.join(command)}\n".encode())
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, check=False)
    except subprocess.TimeoutExpired as error:
        raise ConfigError("", Path(command[0]).name, f"took longer than {LIMIT} s") from error
    with log.open("a") as output:
        output.write(done.stdout + done.stderr)
    if done.returncode:
        said = (done.stderr or done.stdout).strip().splitlines()[-8:]
        raise ConfigError("", Path(command[0]).name, "failed:\n" + "\n".join(said))
    return done.stdout


def cannot_start(home: ClusterHome, tool: str) -> ConfigError:
    """The answer to `vcsimctl start cluster`: such clusters are looked after by the tool that made them."""
    return ConfigError("", home.name, f"{tool} made its control plane and can start it: see `{tool} --help`")


def write_fake_nodes(cluster: SimulatorCluster, home: ClusterHome, *, control_plane: bool) -> None:
    """The fake nodes as a file for kubectl; a control plane in a container brings its own node."""
    nodes = cluster_nodes(cluster, utc())[0 if control_plane else 1 :]
    for node in nodes:
        node["metadata"]["annotations"] = dict(KWOK)
    home.nodes.write_bytes(orjson.dumps({"apiVersion": "v1", "kind": "List", "items": nodes}))


def create_nodes(kubectl: Path, home: ClusterHome) -> None:
    """Create the fake nodes, and give each the status that was asked for."""
    base = [str(kubectl), "--kubeconfig", str(home.kubeconfig)]
    execute([*base, "create", "-f", str(home.nodes)], home.log)
    execute([*base, "replace", "--subresource=status", "-f", str(home.nodes)], home.log)
    home.nodes.unlink()
