"""`seatrial snapshot`: a cluster to begin with, from kubectl's lists, an export, or a live cluster."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from seatrial.cli.options.snapshot import DEVICE_KINDS, KINDS
from seatrial.words import counted

if TYPE_CHECKING:
    from collections import Counter


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(snapshot)


def snapshot(
    files: Annotated[
        list[Path] | None, typer.Argument(help="Output of `kubectl get … -o yaml`, or an export.", show_default=False)
    ] = None,
    output: Annotated[Path, typer.Option("--output", "-o", help="Where the snapshot goes.")] = Path("cluster.yaml"),
    kubeconfig: Annotated[Path | None, typer.Option(help="Take it from a live cluster (extra \\[cluster]).")] = None,
    context: Annotated[
        str | None, typer.Option(help="The context of the kubeconfig; alone, of kubectl's own kubeconfig.")
    ] = None,
) -> None:
    """Make a snapshot for --snapshot from files or from a live cluster, and say what is in it and what is missing.

    Left out are the data of Secrets, results that Seatrial wrote, and what belongs to the old server. The first example
    makes a dump that --snapshot takes as it is; of a cluster with devices add
    deviceclasses,resourceslices,resourceclaims,resourceclaimtemplates.
    """
    from collections import Counter

    from seatrial.model.errors import ConfigError
    from seatrial.model.yaml_reader import dump
    from seatrial.scenario.output_files import write_whole
    from seatrial.store.snapshots import clean, missing_references, read_snapshot

    is_live = kubeconfig is not None or context is not None
    if bool(files) == is_live:
        raise ConfigError("", "FILES", "expected either files or a live cluster (--kubeconfig, --context)")
    left_out: Counter[str] = Counter()
    found = read_snapshot(files, left_out=left_out) if files else list(clean(_live(kubeconfig, context), left_out))
    try:
        write_whole(output, [dump({"apiVersion": "v1", "kind": "List", "items": found}).encode()])
    except OSError as error:
        raise ConfigError("", "--output", f"{output} cannot be written: {error.strerror or error}") from error
    if not found:
        source = ", ".join(map(str, files)) if files else str(kubeconfig or context)
        typer.echo(f"seatrial: warning: {source}: no objects found; the snapshot is empty", err=True)
    typer.echo(f"{output}: {counted(len(found), 'object')}")
    _print_counts(Counter(document["kind"] for document in found), left_out)
    for sentence in missing_references(found):
        typer.echo(f"missing: {sentence}")


def _print_counts(kinds: "Counter[str]", left_out: "Counter[str]") -> None:
    from seatrial.store.snapshots import plural

    for kind, count in sorted(kinds.items(), key=lambda item: (-item[1], item[0])):
        typer.echo(f"  {count:>7,} {plural(kind, count)}")
    if left_out:
        listed = ", ".join(f"{count:,} {plural(kind, count)}" for kind, count in sorted(left_out.items()))
        typer.echo(f"left out, since they belong to the old server: {listed}")


def _live(kubeconfig: Path | None, context: str | None) -> list[dict[str, Any]]:
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
        config.load_kube_config(  # type: ignore[no-untyped-call]
            str(kubeconfig) if kubeconfig is not None else None, context=context
        )
    except (config.ConfigException, ValueError, YAMLError) as error:
        field = "--context" if context is not None and "context" in str(error) else ""
        raise ConfigError(str(kubeconfig or ""), field, str(error)) from error
    api, source = client.ApiClient(), str(kubeconfig or context)
    found: list[dict[str, Any]] = []
    for api_version, plural in [(group, each) for group, all in {**KINDS, **DEVICE_KINDS}.items() for each in all]:
        root = f"/apis/{api_version}" if "/" in api_version else f"/api/{api_version}"
        request = api.param_serialize("GET", f"{root}/{plural}", auth_settings=["BearerToken"])
        try:
            answer = api.call_api(*request)
            body = answer.read()  # type: ignore[no-untyped-call]
        except HTTPError as error:
            raise ConfigError(source, plural, f"the cluster cannot be asked: {error}") from error
        if answer.status in (403, 404):
            continue
        if answer.status != 200:
            raise ConfigError(source, plural, f"the cluster answered {answer.status} {answer.reason}")
        listed = orjson.loads(body or b"{}")
        kind = listed["kind"].removesuffix("List")
        found += [{"apiVersion": api_version, "kind": kind, **item} for item in listed["items"]]
    return found
