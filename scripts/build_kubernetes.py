"""Build the real Kubernetes programs (and etcd and helm) that the outside tests use, from the Go module proxy.

They go into a cache directory outside the checkout, by version: a second call finds them there. Usage:

    python scripts/build_kubernetes.py [PROGRAM ...] [--version v1.37.1]        print the directory that holds them
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

VERSION = "v1.36.3"
"""The version that tools/kubernetes pins, of all programs; others are resolved by Go from their own go.mod."""
PROGRAMS = ("kubectl", "kube-scheduler", "kube-controller-manager", "kube-apiserver", "etcd")
TESTS = "e2e.test"
"""Kubernetes' own end-to-end tests; they are built only where they are asked for."""
HELM = "helm"
"""The program that installs charts; only tests of the chart ask for it."""
TOOLS = Path(__file__).parents[1] / "tools"
ETCD = "go.etcd.io/etcd/server/v3"
"""The etcd server; tools/etcd has the version that the go.mod of k8s.io/kubernetes names."""
VERSION_VARIABLES = ("k8s.io/component-base/version", "k8s.io/client-go/pkg/version")


def directory(version: str = VERSION) -> Path:
    """Where the programs of a version are kept."""
    chosen = os.environ.get("SEATRIAL_KUBERNETES")
    if chosen and version == VERSION:
        return Path(chosen)
    return cache() / f"kubernetes-{version}"


def cache() -> Path:
    """The directory of everything that is built from the Go module proxy."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "seatrial"


def missing(programs: tuple[str, ...] = PROGRAMS, version: str = VERSION) -> list[str]:
    """The programs that are not built yet."""
    return [program for program in programs if not os.access(directory(version) / program, os.X_OK)]


def build(program: str, version: str = VERSION) -> None:
    """Build one program into the directory, in one step."""
    major, minor = version.removeprefix("v").split(".")[:2]
    values = {"gitVersion": version, "gitMajor": major, "gitMinor": minor, "gitTreeState": "clean"}
    flags = " ".join(f"-X {variable}.{key}={value}" for variable in VERSION_VARIABLES for key, value in values.items())
    directory(version).mkdir(parents=True, exist_ok=True)
    unfinished = directory(version) / f".{program}.{os.getpid()}"
    verb, package, module = _source(program)
    subprocess.run(
        ["go", *verb, "-trimpath", "-ldflags", f"-s -w {flags}", "-o", str(unfinished), package],
        cwd=TOOLS / module if version == VERSION else module_of(version),
        env=os.environ | {"CGO_ENABLED": "0", "GOFLAGS": "-mod=mod"},
        check=True,
    )
    unfinished.replace(directory(version) / program)


def _source(program: str) -> tuple[tuple[str, ...], str, str]:
    """How a program is built, from which package, and the module in tools/ that pins it."""
    if program == "etcd":
        return ("build",), ETCD, "etcd"
    if program == HELM:
        return ("build",), "helm.sh/helm/v3/cmd/helm", "helm"
    if program == TESTS:
        return ("test", "-c"), "k8s.io/kubernetes/test/e2e", "e2e"
    return ("build",), f"k8s.io/kubernetes/cmd/{program}", "kubernetes"


def module_of(version: str) -> Path:
    """A module that requires one version of Kubernetes: its own go.mod, with its staging modules at their releases."""
    command = ["go", "mod", "download", "-json", f"k8s.io/kubernetes@{version}"]
    upstream = json.loads(subprocess.run(command, cwd="/", check=True, capture_output=True).stdout)
    text = Path(upstream["GoMod"]).read_text()
    release = f"v0.{version.partition('.')[2]}"
    text = re.sub(r"=> \./staging/src/(\S+)", rf"=> \1 {release}", text).replace(" v0.0.0\n", f" {release}\n")
    text = text.replace("module k8s.io/kubernetes\n", "module seatrial.dev/tools/kubernetes\n")
    module = directory(version) / "module"
    module.mkdir(exist_ok=True)
    (module / "go.mod").write_text(f"{text}\nrequire k8s.io/kubernetes {version}\n")
    return module


def ensure(programs: tuple[str, ...] = PROGRAMS, version: str = VERSION) -> Path:
    """Build what is missing; the directory that holds the programs."""
    wanted = missing(programs, version)
    if wanted and shutil.which("go") is None:
        raise SystemExit(f"cannot build {', '.join(wanted)}: no go on PATH")
    for program in wanted:
        print(f"building {program} {version} ...", file=sys.stderr)
        build(program, version)
    return directory(version)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs="*", metavar="PROGRAM")
    parser.add_argument("--version", default=VERSION)
    given = parser.parse_args()
    known = (*PROGRAMS, TESTS, HELM)
    if unknown := [name for name in given.programs if name not in known]:
        raise SystemExit(f"unknown program {unknown[0]!r}; known are {', '.join(known)}")
    print(ensure(tuple(given.programs) or PROGRAMS, given.version))
