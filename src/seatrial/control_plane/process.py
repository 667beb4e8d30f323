"""One server process from its settings to its end: credentials, kubeconfig, the loop."""

import asyncio
import logging
import shutil
import socket
import ssl
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, redirect_stdout, suppress
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import typer

from seatrial.control_plane.components import Parts, Settings, compose
from seatrial.model.errors import ConfigError, StorageFailed

if TYPE_CHECKING:
    from seatrial.server import Served
    from seatrial.server.auth import Identities

WRITTEN_EVERY = 0.05
"""Seconds between two looks at whether something is not yet on disk."""
LINGER = 2.0
"""Seconds for which a server whose store has failed still answers, with the cause."""

log = logging.getLogger("seatrial.server")


def run(settings: Settings) -> None:
    """Serve until a signal to stop."""
    import uvloop

    from seatrial.server import auth
    from seatrial.server.serving import Listener
    from seatrial.store import MASTERS

    certificates: auth.Certificates | None = None
    passing: Path | None = None

    def tls(port: int) -> ssl.SSLContext | None:
        nonlocal certificates, passing
        state = auth.state_directory(settings.data_dir, port)
        if not settings.port and settings.data_dir is None and not state.exists():
            passing = state
        if settings.insecure:
            return None
        certificates = auth.Certificates.in_directory(state / "pki")
        return certificates.context()

    _check_paths(settings)
    try:
        listener = Listener.on(settings.bind_address, settings.port, tls)
    except OSError as error:
        raise _cannot_listen("--port", settings.bind_address, settings.port, error) from error
    with listener.socket, _removed(passing):
        if settings.simulator_port is not None:
            listener.more.append(_second_socket(settings.bind_address, settings.simulator_port))
        state = auth.state_directory(settings.data_dir, listener.port)
        token = "" if settings.insecure else auth.kept_secret(state / "token")
        path = (settings.kubeconfig or auth.default_path(settings.data_dir, listener.port)).absolute()
        identities = _identities(settings, token, auth.kept_secret(state / "signing-key"))
        authority, trusted, credentials = None, None, None
        if certificates is not None:
            trusted = certificates.authority
            authority = auth.Authority(trusted, certificates.authority_key)
            credentials = auth.kept_credentials(authority, trusted.parent, auth.ADMIN.name, MASTERS)
        parts = compose(settings, listener.port, authority)
        auth.write_kubeconfig(path, listener.url, token, trusted, credentials)
        if parts.outside is not None:
            for name, placed in parts.outside.place(identities, state / "outside", listener.url, trusted).items():
                typer.echo(f"kubeconfig of outside controller {name}: {placed}", err=True)
        typer.echo(f"kubeconfig: {path}")
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(_serve(settings, parts, listener, identities))


def _second_socket(address: str, port: int) -> socket.socket:
    from seatrial.server.serving import bind

    try:
        return bind(address, port)
    except OSError as error:
        raise _cannot_listen("--simulator-port", address, port, error) from error


def _cannot_listen(option: str, address: str, port: int, error: OSError) -> ConfigError:
    return ConfigError("", option, f"cannot listen on {address}:{port}: {error.strerror}")


@contextmanager
def _removed(state: Path | None) -> Iterator[None]:
    """Remove what was kept for a randomly chosen port: it will not be used again."""
    try:
        yield
    finally:
        if state is not None:
            shutil.rmtree(state, ignore_errors=True)


def _check_paths(settings: Settings) -> None:
    """ConfigError where a path cannot be used, before anything is made."""
    if settings.data_dir is not None:
        try:
            settings.data_dir.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            why = f"cannot be used as a directory: {error.strerror or error}"
            raise ConfigError(str(settings.data_dir), "--data-dir", why) from error
    if settings.kubeconfig is not None and settings.kubeconfig.is_dir():
        raise ConfigError(str(settings.kubeconfig), "--kubeconfig", "expected the path of a file, got a directory")


def _identities(settings: Settings, token: str, key: str) -> "Identities":
    """The users of the server: its administrator, and those of the token file."""
    from seatrial.server.auth import ADMIN, Identities

    identities = Identities(key.encode(), anonymous=settings.insecure)
    if token:
        identities.add(token, ADMIN)
    if settings.token_file is not None:
        identities.load_file(settings.token_file)
    return identities


async def _serve(settings: Settings, parts: Parts, listener: "object", identities: "Identities") -> None:
    from seatrial.server import Application, KubernetesApi, Metrics, WorkerLoop
    from seatrial.server.serving import Listener, serve, tune_collector

    assert isinstance(listener, Listener)
    metrics = Metrics()
    metrics.pages.extend(parts.metrics)
    pump = WorkerLoop(parts.store, parts.clock, parts.workers)
    api = KubernetesApi(
        parts.store, identities, metrics, parts.gates, authorizer=parts.authorizer,
        is_alive=lambda: pump.is_alive,
    )  # fmt: skip
    durable = (lambda: parts.store.committed(parts.store.revision)) if parts.durability is not None else None
    application = Application(
        api,
        identities,
        metrics,
        parts.routes,
        max_request_bytes=settings.max_request_bytes,
        authorizer=parts.authorizer,
        durable=durable,
    )
    if parts.outside is not None:
        parts.outside.woken.append(pump.wake)
    working = pump.start()
    tune_collector()

    def stop() -> None:
        api.feeds.close()
        for close in parts.on_stop:
            with suppress(StorageFailed):
                close()

    shared, address = _shared(application, settings, identities)
    answers = sys.stdout
    async with _written(parts, working) as failed:
        try:
            # What plugins and controllers print goes to standard error.
            with redirect_stdout(sys.stderr):
                await serve(
                    shared,
                    listener,
                    ready=lambda: _say_ready(listener.url, address, answers),
                    stop=stop,
                    until=failed,
                )
        finally:
            application.pools.close()
            if parts.outside is not None:
                await asyncio.to_thread(parts.outside.controllers.wait_stopped)
            working.cancel()


def _say_ready(url: str, address: str, output: TextIO) -> None:
    typer.echo(f"ready: {url}", file=output)
    if address:
        typer.echo(f"Open in a browser: {url}{address}", file=output)


def _shared(application: "Served", settings: Settings, identities: "Identities") -> "tuple[Served, str]":
    """The application with the browser interface, and where that is opened (empty: it is left out).

    It is open to pages of the origins that were listed; without tokens it is closed to all others.
    """
    from seatrial.server import CrossOrigin, OriginCheck, is_loopback

    origins, address = settings.cors_allowed_origins, ""
    if settings.ui:
        from seatrial.web import LivePages

        application = pages = LivePages(application, identities, origins)
        address = "/" if settings.insecure else f"/?token={pages.token}"
    if origins:
        application = CrossOrigin(application, origins)
    if settings.insecure:
        application = OriginCheck(application, origins, loopback_only=is_loopback(settings.bind_address))
    return application, address


@asynccontextmanager
async def _written(parts: Parts, working: "asyncio.Task[None]") -> "AsyncIterator[asyncio.Task[None] | None]":
    """Write to disk while the body runs, then close the store; gives the task that ends when a write has failed."""
    if parts.durability is None:
        yield None
        return
    task = asyncio.ensure_future(_write_soon(parts, working))
    try:
        yield task
    finally:
        task.cancel()
        parts.durability.close()
    if parts.durability.failure is not None:
        raise parts.durability.failure


async def _write_soon(parts: Parts, working: "asyncio.Task[None]") -> None:
    """Bring what controllers and schedulers write to disk, though no client waits for it.

    When that fails, controllers and schedulers stop and the server soon ends.
    """
    try:
        while True:
            await parts.store.committed(parts.store.revision)
            await asyncio.sleep(WRITTEN_EVERY)
    except StorageFailed as error:
        log.error("%s", error)
        working.cancel()
        await asyncio.sleep(LINGER)
