"""`seatrial snapshot`: a cluster to begin with, from kubectl's lists, an export, or a live cluster."""

from pathlib import Path
from typing import Annotated, Any

import typer

KINDS = (
    ("v1", "namespaces"),
    ("v1", "nodes"),
    ("v1", "pods"),
    ("v1", "services"),
    ("v1", "persistentvolumes"),
    ("v1", "persistentvolumeclaims"),
    ("v1", "replicationcontrollers"),
    ("v1", "resourcequotas"),
    ("v1", "limitranges"),
    ("scheduling.k8s.io/v1", "priorityclasses"),
    ("storage.k8s.io/v1", "storageclasses"),
    ("storage.k8s.io/v1", "csinodes"),
    ("storage.k8s.io/v1", "csidrivers"),
    ("storage.k8s.io/v1", "csistoragecapacities"),
    ("policy/v1", "poddisruptionbudgets"),
    ("apps/v1", "deployments"),
    ("apps/v1", "replicasets"),
    ("apps/v1", "statefulsets"),
    ("apps/v1", "daemonsets"),
    ("batch/v1", "jobs"),
    ("resource.k8s.io/v1", "deviceclasses"),
    ("resource.k8s.io/v1", "resourceslices"),
    ("resource.k8s.io/v1", "resourceclaims"),
    ("resource.k8s.io/v1", "resourceclaimtemplates"),
)
"""The kinds that a scheduler reads, and the kinds that create pods."""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(snapshot)


def snapshot(
    files: Annotated[
        list[Path] | None, typer.Argument(help="Output of `kubectl get … -o yaml`, or an export.", show_default=False)
    ] = None,
    output: Annotated[Path, typer.Option("--output", "-o", help="Where the snapshot goes.")] = Path("cluster.yaml"),
    kubeconfig: Annotated[Path | None, typer.Option(help="Take it from a live cluster (extra \\[cluster]).")] = None,
) -> None:
    """Make a snapshot for `seatrial run --snapshot`, without the data of Secrets."""
    from seatrial.model.errors import ConfigError
    from seatrial.model.yaml_reader import dump
    from seatrial.scenario.output_files import write_whole
    from seatrial.store.snapshots import clean, read_snapshot

    if bool(files) == (kubeconfig is not None):
        raise ConfigError("", "FILES", "expected either files or --kubeconfig")
    found = read_snapshot(files) if files else list(clean(_live(kubeconfig)))
    try:
        write_whole(output, [dump({"apiVersion": "v1", "kind": "List", "items": found}).encode()])
    except OSError as error:
        raise ConfigError("", "--output", f"{output} cannot be written: {error.strerror or error}") from error
    if not found:
        source = ", ".join(map(str, files)) if files else str(kubeconfig)
        typer.echo(f"seatrial: warning: {source}: no objects found; the snapshot is empty", err=True)
    typer.echo(f"{output}: {len(found)} objects")


def _live(kubeconfig: Path | None) -> list[dict[str, Any]]:
    """Everything of these kinds in a live cluster; kinds that it does not serve are left out."""
    import orjson
    from yaml import YAMLError

    from seatrial.model.errors import ConfigError

    try:
        from kubernetes import client, config
        from urllib3.exceptions import HTTPError
    except ImportError as error:
        raise ConfigError("", "--kubeconfig", "needs the extra [cluster]: pip install 'seatrial[cluster]'") from error
    try:
        config.load_kube_config(str(kubeconfig))  # type: ignore[no-untyped-call]
    except (config.ConfigException, ValueError, YAMLError) as error:
        raise ConfigError(str(kubeconfig), "", str(error)) from error
    api = client.ApiClient()
    found: list[dict[str, Any]] = []
    for api_version, plural in KINDS:
        root = f"/apis/{api_version}" if "/" in api_version else f"/api/{api_version}"
        request = api.param_serialize("GET", f"{root}/{plural}", auth_settings=["BearerToken"])
        try:
            answer = api.call_api(*request)
            body = answer.read()  # type: ignore[no-untyped-call]
        except HTTPError as error:
            raise ConfigError(str(kubeconfig), plural, f"the cluster cannot be asked: {error}") from error
        if answer.status in (403, 404):
            continue
        if answer.status != 200:
            raise ConfigError(str(kubeconfig), plural, f"the cluster answered {answer.status} {answer.reason}")
        listed = orjson.loads(body or b"{}")
        kind = listed["kind"].removesuffix("List")
        found += [{"apiVersion": api_version, "kind": kind, **item} for item in listed["items"]]
    return found
