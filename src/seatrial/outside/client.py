"""For controllers and schedulers in Python that can be changed (KEP-140). It needs nothing but this file.

```python
from seatrial.outside.client import check_scenario_step_phase, next_pod

def run_once():                                          # a controller: at the end of its loop
    ...
    check_scenario_step_phase("hoge-controller", config)

def schedule_one(pod):                                   # a scheduler: at the top of its loop
    next_pod(f"{pod.namespace}/{pod.name}", config)
    ...
```
`config` is the path of a kubeconfig, its content as a dict, a client configuration (kubernetes.client.Configuration),
or None for the file that KUBECONFIG names. A kubeconfig in YAML needs PyYAML; those that Seatrial places are JSON.
"""

import base64
import functools
import http.client
import json
import os
import ssl
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

ASK_AGAIN = 0.05
"""Seconds between two requests where the server answers at once that the caller has to wait."""


class SeatrialClientError(Exception):
    """The server cannot be asked, or refuses."""


def check_scenario_step_phase(name: str, config: Any = None) -> None:
    """Return at once, unless this controller is paused: then when the phase becomes OperatingCompleted."""
    _ask("/scenario/check-step-phase?name=" + quote(name, safe=""), config)


def next_pod(pod: str, config: Any = None) -> None:
    """Return when the scheduler may try this pod (`namespace/name`)."""
    _ask("/scenario/next-pod?pod=" + quote(pod, safe=""), config)


def simulation_controller(name: str, config: Any = None) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorate the loop body of a controller: it stops at its end while the Scenario wants it to."""

    def decorate(run_once: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(run_once)
        def checked(*arguments: Any, **named: Any) -> Any:
            try:
                return run_once(*arguments, **named)
            finally:
                check_scenario_step_phase(name, config)

        return checked

    return decorate


def _ask(path: str, config: Any) -> None:
    server, token, context = connection_of(config)
    parts = urlsplit(server)
    headers = {"Authorization": "Bearer " + token} if token else {}
    while True:
        if parts.scheme == "https":
            connection: http.client.HTTPConnection = http.client.HTTPSConnection(parts.netloc, context=context)
        else:
            connection = http.client.HTTPConnection(parts.netloc)
        try:
            connection.request("POST", path, headers=headers)
            answer = connection.getresponse()
            body = answer.read()
        except OSError as error:
            raise SeatrialClientError(f"{server}: {error}") from error
        finally:
            connection.close()
        if answer.status == 200:
            return
        if answer.status != 202:
            raise SeatrialClientError(f"{server}{path}: {answer.status} {body.decode(errors='replace')}")
        time.sleep(ASK_AGAIN)


def connection_of(config: Any) -> tuple[str, str, ssl.SSLContext | None]:
    """Server, token and TLS context of a configuration."""
    if config is None or isinstance(config, (str, os.PathLike)):
        config = _read(config or os.environ.get("KUBECONFIG", ""))
    if not isinstance(config, dict):
        return _of_client(config)
    context = _named(config, "contexts", config.get("current-context")).get("context") or {}
    cluster = _named(config, "clusters", context.get("cluster")).get("cluster") or {}
    user = _named(config, "users", context.get("user")).get("user") or {}
    if not cluster.get("server"):
        raise SeatrialClientError("the kubeconfig names no server")
    tls = None
    if cluster["server"].startswith("https"):
        data = cluster.get("certificate-authority-data")
        pem = base64.b64decode(data).decode() if data else None
        tls = ssl.create_default_context(cafile=cluster.get("certificate-authority"), cadata=pem)
        if cluster.get("insecure-skip-tls-verify"):
            tls.check_hostname, tls.verify_mode = False, ssl.CERT_NONE
        _present_certificate(tls, user)
    return cluster["server"], user.get("token") or "", tls


def _present_certificate(tls: ssl.SSLContext, user: Any) -> None:
    """Load the client certificate of a user, if it has one."""
    if user.get("client-certificate") and user.get("client-key"):
        tls.load_cert_chain(user["client-certificate"], user["client-key"])
    elif user.get("client-certificate-data") and user.get("client-key-data"):
        with tempfile.NamedTemporaryFile() as file:
            for key in ("client-certificate-data", "client-key-data"):
                file.write(base64.b64decode(user[key]) + b"\n")
            file.flush()
            tls.load_cert_chain(file.name)


def _of_client(config: Any) -> tuple[str, str, ssl.SSLContext | None]:
    """A configuration of the official client."""
    token = (getattr(config, "api_key", None) or {}).get("authorization", "")
    tls = None
    if config.host.startswith("https"):
        tls = ssl.create_default_context(cafile=getattr(config, "ssl_ca_cert", None))
        if not getattr(config, "verify_ssl", True):
            tls.check_hostname, tls.verify_mode = False, ssl.CERT_NONE
        if getattr(config, "cert_file", None):
            tls.load_cert_chain(config.cert_file, config.key_file)
    scheme, _, rest = token.partition(" ")
    return config.host, rest if scheme.lower() == "bearer" else token, tls


def _read(path: Any) -> Any:
    if not path:
        raise SeatrialClientError("no configuration: give one, or set KUBECONFIG")
    try:
        text = Path(path).read_text(encoding="utf-8")
    except ValueError as error:
        raise SeatrialClientError(f"{path} is no kubeconfig: {error}") from None
    try:
        return json.loads(text)
    except ValueError:
        try:
            import yaml
        except ImportError:
            raise SeatrialClientError(f"{path} is not JSON, and PyYAML is not installed") from None
        return yaml.safe_load(text)


def _named(config: Any, listing: str, name: Any) -> Any:
    return next((item for item in config.get(listing) or [] if item.get("name") == name), {})
