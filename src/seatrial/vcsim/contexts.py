"""Merging a cluster's kubeconfig into the user's, as context `vcsim-<cluster>`, and taking it out again."""

import os
from pathlib import Path
from typing import Any

import yaml

from seatrial.model.errors import ConfigError
from seatrial.server.auth import write_private

LISTS = {"clusters": "cluster", "users": "user", "contexts": "context"}


def context_name(cluster: str) -> str:
    """The context of a cluster."""
    return f"vcsim-{cluster}"


def user_kubeconfig() -> Path:
    """The file that kubectl would write to."""
    first = os.environ.get("KUBECONFIG", "").split(os.pathsep)[0]
    return Path(first) if first else Path.home() / ".kube" / "config"


def merge(kubeconfig: Path, cluster: str) -> Path:
    """Add the one cluster of a kubeconfig to the user's, and make it the current context; the file written."""
    name, path = context_name(cluster), user_kubeconfig()
    ours, theirs = _read(kubeconfig), _read(path)
    for listing, field in LISTS.items():
        entry = dict(ours[listing][0][field])
        if listing == "contexts":
            entry |= {"cluster": name, "user": name}
        kept = [item for item in theirs.get(listing) or [] if item.get("name") != name]
        theirs[listing] = [*kept, {"name": name, field: entry}]
    theirs["current-context"] = name
    _write(path, theirs)
    return path


def remove(cluster: str) -> None:
    """Take a cluster out of the user's kubeconfig, where it is in it."""
    name, path = context_name(cluster), user_kubeconfig()
    if not path.exists():
        return
    theirs = _read(path)
    before = {listing: theirs.get(listing) for listing in LISTS}
    for listing in LISTS:
        if theirs.get(listing):
            theirs[listing] = [item for item in theirs[listing] if item.get("name") != name]
    if before == {listing: theirs.get(listing) for listing in LISTS}:
        return
    if theirs.get("current-context") == name:
        theirs["current-context"] = ""
    _write(path, theirs)


def _read(path: Path) -> dict[str, Any]:
    try:
        document = yaml.safe_load(path.read_text(encoding="utf-8")) if path.exists() else None
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise ConfigError(str(path), "", f"cannot be read as a kubeconfig: {error}") from error
    if document is None:
        document = {"apiVersion": "v1", "kind": "Config", "preferences": {}}
    if not isinstance(document, dict):
        raise ConfigError(str(path), "", "expected a kubeconfig")
    return document


def _write(path: Path, document: dict[str, Any]) -> None:
    write_private(path, yaml.safe_dump(document, sort_keys=False).encode())
