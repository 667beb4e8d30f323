"""Modules of the Go proxy: the files of other projects at pinned versions."""

from pathlib import Path

import pytest

from scripts.build_zoo import PROGRAMS, Unavailable, download


def module(name: str, unlisted_sum: str = "") -> Path:
    """The directory of a module, such as `sigs.k8s.io/jobset@v0.10.1`; the test is skipped where it cannot be had."""
    try:
        return download(name, unlisted_sum)
    except Unavailable as missing:
        pytest.skip(str(missing))


def files_of(program: str) -> Path:
    """The directory with the manifests that belong to a program of the zoo."""
    source = PROGRAMS[program]
    return module(source.pinned, source.unlisted_sum)
