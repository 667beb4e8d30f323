"""Build the programs of tests/outside/zoo from the Go module proxy, each from its own go.mod at a pinned version.

They go into the cache directory of scripts/build_kubernetes.py. Usage:

    python scripts/build_zoo.py [PROGRAM ...]        print the directory that holds them
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # for a call by path
from scripts.build_kubernetes import cache


@dataclass(frozen=True)
class Source:
    """Where a program comes from."""

    module: str
    version: str
    package: str
    tags: str = ""
    """Build tags, separated by commas."""
    unlisted_sum: str = ""
    """The hash of a module that the checksum database does not list."""
    drops: str = ""
    """A module that its go.mod replaces by a folder outside the module; the required version is built instead."""

    @property
    def pinned(self) -> str:
        """The module as `go mod download` takes it."""
        return f"{self.module}@{self.version}"


PROGRAMS = {
    "descheduler": Source("sigs.k8s.io/descheduler", "v0.36.0", "./cmd/descheduler"),
    "jobset": Source("sigs.k8s.io/jobset", "v0.10.1", "."),
    "kube-state-metrics": Source("k8s.io/kube-state-metrics/v2", "v2.18.0", "."),
    "karpenter": Source("sigs.k8s.io/karpenter", "v1.8.0", "./kwok"),
    "kueue": Source("sigs.k8s.io/kueue", "v0.15.0", "./cmd/kueue"),
    "cluster-autoscaler": Source(  # 1.33.0, with the provider kwok alone
        "k8s.io/autoscaler/cluster-autoscaler",
        "v0.0.0-20250613073258-1959f5f61f6c",
        ".",
        tags="kwok",
        unlisted_sum="h1:gGUthCoel/TlD1fh33foTFCs1n75w8sqmpD3qf2zqk4=",
        drops="k8s.io/autoscaler/cluster-autoscaler/apis",
    ),
    "lws": Source("sigs.k8s.io/lws", "v0.7.0", "./cmd"),
    "kwok": Source("sigs.k8s.io/kwok", "v0.7.0", "./cmd/kwok"),
    "coscheduling": Source("sigs.k8s.io/scheduler-plugins", "v0.34.7", "./cmd/scheduler"),
    "volcano-controllers": Source("volcano.sh/volcano", "v1.10.0", "./cmd/controller-manager"),
    "volcano-scheduler": Source("volcano.sh/volcano", "v1.10.0", "./cmd/scheduler"),
}
"""The programs by name, those that are built first at the front."""


class Unavailable(Exception):
    """A module that the Go proxy does not have, or no Go at all."""


def download(pinned: str, unlisted_sum: str = "") -> Path:
    """The directory of a module such as `sigs.k8s.io/jobset@v0.10.1`."""
    command = ["go", "mod", "download", "-json", pinned]
    environment = os.environ | ({"GONOSUMDB": pinned.partition("@")[0]} if unlisted_sum else {})
    try:
        done = subprocess.run(command, cwd="/", env=environment, capture_output=True, text=True, timeout=600)
    except FileNotFoundError:
        raise Unavailable("no go on PATH") from None
    found = json.loads(done.stdout)
    if "Error" in found:
        raise Unavailable(f"the Go proxy has no {pinned}: {found['Error']}")
    if unlisted_sum and found["Sum"] != unlisted_sum:
        raise Unavailable(f"the Go proxy has another {pinned}: {found['Sum']}, expected {unlisted_sum}")
    return Path(found["Dir"])


def executable(program: str) -> Path:
    """Where a program is kept once it is built."""
    return cache() / "zoo" / f"{program}-{PROGRAMS[program].version}"


def build(program: str) -> None:
    """Build one program, in one step, with the versions of its own go.mod."""
    source, target = PROGRAMS[program], executable(program)
    target.parent.mkdir(parents=True, exist_ok=True)
    unfinished = target.with_name(f".{target.name}.{os.getpid()}")
    directory = download(source.pinned, source.unlisted_sum)
    command = ["go", "build", "-p", os.environ.get("SEATRIAL_BUILD_JOBS", "2"), "-trimpath", "-ldflags", "-s -w"]
    with tempfile.TemporaryDirectory() as scratch:
        if source.drops:
            for name in ("go.mod", "go.sum"):
                (Path(scratch) / name).write_bytes((directory / name).read_bytes())
            edited = f"{scratch}/go.mod"
            subprocess.run(["go", "mod", "edit", "-dropreplace", source.drops, edited], cwd="/", check=True)
            command += ["-mod=mod", "-modfile", edited]
        subprocess.run(
            [*command, "-tags", source.tags, "-o", str(unfinished), source.package],
            cwd=directory,
            env=os.environ | {"CGO_ENABLED": "0"},
            check=True,
        )
    unfinished.replace(target)


def ensure(*programs: str) -> Path:
    """Build what is missing; the directory that holds the programs."""
    wanted = [program for program in programs if not os.access(executable(program), os.X_OK)]
    if wanted and shutil.which("go") is None:
        raise Unavailable(f"cannot build {', '.join(wanted)}: no go on PATH")
    for program in wanted:
        print(f"building {PROGRAMS[program].pinned} ...", file=sys.stderr)
        build(program)
    return cache() / "zoo"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs="*", metavar="PROGRAM")
    names = parser.parse_args().programs or list(PROGRAMS)
    if unknown := [name for name in names if name not in PROGRAMS]:
        raise SystemExit(f"unknown program {unknown[0]!r}; known are {', '.join(PROGRAMS)}")
    try:
        print(ensure(*names))
    except Unavailable as missing:
        raise SystemExit(str(missing)) from None
