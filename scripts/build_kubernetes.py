"""Build the real Kubernetes programs (and etcd) that the outside tests talk to, from the Go module proxy.

They go into a cache directory outside the checkout, by version: a second call finds them there. Usage:

    python scripts/build_kubernetes.py [PROGRAM ...]        print the directory that holds them
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

VERSION = "v1.36.3"
PROGRAMS = ("kubectl", "kube-scheduler", "kube-controller-manager", "kube-apiserver", "etcd")
TESTS = "e2e.test"
"""Kubernetes' own end-to-end tests; they are built only where they are asked for."""
TOOLS = Path(__file__).parents[1] / "tools"
ETCD = "go.etcd.io/etcd/server/v3"
"""The etcd server; tools/etcd has the version that the go.mod of k8s.io/kubernetes names."""
VERSION_VARIABLES = ("k8s.io/component-base/version", "k8s.io/client-go/pkg/version")


def directory() -> Path:
    """Where the programs are kept."""
    chosen = os.environ.get("SEATRIAL_KUBERNETES")
    if chosen:
        return Path(chosen)
    cache = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(cache) / "seatrial" / f"kubernetes-{VERSION}"


def missing(programs: tuple[str, ...] = PROGRAMS) -> list[str]:
    """The programs that are not built yet."""
    return [program for program in programs if not os.access(directory() / program, os.X_OK)]


def build(program: str) -> None:
    """Build one program into the directory, in one step."""
    major, minor = VERSION.removeprefix("v").split(".")[:2]
    values = {"gitVersion": VERSION, "gitMajor": major, "gitMinor": minor, "gitTreeState": "clean"}
    flags = " ".join(f"-X {variable}.{key}={value}" for variable in VERSION_VARIABLES for key, value in values.items())
    directory().mkdir(parents=True, exist_ok=True)
    unfinished = directory() / f".{program}.{os.getpid()}"
    verb, package, module = _source(program)
    subprocess.run(
        ["go", *verb, "-trimpath", "-ldflags", f"-s -w {flags}", "-o", str(unfinished), package],
        cwd=TOOLS / module,
        env=os.environ | {"CGO_ENABLED": "0", "GOFLAGS": "-mod=mod"},
        check=True,
    )
    unfinished.replace(directory() / program)


def _source(program: str) -> tuple[tuple[str, ...], str, str]:
    """How a program is built, from which package, and the module in tools/ that pins it."""
    if program == "etcd":
        return ("build",), ETCD, "etcd"
    if program == TESTS:
        return ("test", "-c"), "k8s.io/kubernetes/test/e2e", "e2e"
    return ("build",), f"k8s.io/kubernetes/cmd/{program}", "kubernetes"


def ensure(programs: tuple[str, ...] = PROGRAMS) -> Path:
    """Build what is missing; the directory that holds the programs."""
    wanted = missing(programs)
    if wanted and shutil.which("go") is None:
        raise SystemExit(f"cannot build {', '.join(wanted)}: no go on PATH")
    for program in wanted:
        print(f"building {program} {VERSION} ...", file=sys.stderr)
        build(program)
    return directory()


if __name__ == "__main__":
    names = tuple(sys.argv[1:]) or PROGRAMS
    unknown = [name for name in names if name not in (*PROGRAMS, TESTS)]
    if unknown:
        raise SystemExit(f"unknown program {unknown[0]!r}; known are {', '.join((*PROGRAMS, TESTS))}")
    print(ensure(names))
