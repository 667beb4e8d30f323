"""Which programs outside this process take part in scenarios: name, identity, command, and when each is idle.

`--outside 'scheduler=./kube-scheduler --config x.yaml'` is the short form; `--outside FILE` reads a file with the
same and more:

```yaml
controllers:
- name: scheduler
  user: system:kube-scheduler
  command: [./kube-scheduler, --kubeconfig, "{kubeconfig}"]
  schedulerNames: [default-scheduler]
```
"""

import shlex
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal

import msgspec

from seatrial.model.durations import DurationError, parse_duration
from seatrial.model.errors import ConfigError
from seatrial.model.times import SECOND
from seatrial.model.yaml_reader import YamlError, load_all
from seatrial.scenario.engine import SCHEDULER
from seatrial.scenario.spec import canonical

Idle = Literal["verdicts", "quiet"]
DEFAULT_SCHEDULER = "default-scheduler"
KUBE_SCHEDULER = "system:kube-scheduler"
TIMEOUT = "60s"
QUIET = "500ms"
INTERVAL = "interval "
RHYTHMS = {
    "cluster-autoscaler": "interval 10s",
    "descheduler": "interval 5s",
    "karpenter": "interval 26s",
    "kueue": "interval 1s",
}
"""Rhythms by the name of the program: how often it looks by itself, with its usual flags.

cluster-autoscaler: --scan-interval; karpenter: its disruption controller looks every 10 s and checks a decision again
15 s later (pollingPeriod, consolidationTTL), and its batches are shorter; kueue: its requeuing and status batches; the
descheduler is run with --descheduling-interval=5s.
"""
OPTION = "--outside"
TIMEOUT_OPTION = "--outside-timeout"


class OutsideController(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """One program, as it is configured."""

    name: str
    command: tuple[str, ...] = ()
    """Empty where the program is already running."""
    user: str = ""
    service_account: str = ""
    certificate: str = ""
    """The common name of its client certificate."""
    idle: Idle | None = None
    """How it is known to be idle: `verdicts` on pods, or a `quiet` window."""
    waiter: str = ""
    """`FILE.py:function`; called with the cluster, says whether the program has nothing more to do."""
    scheduler_names: tuple[str, ...] = ()
    watches: tuple[str, ...] = ()
    """Kinds (apiVersion/Kind) that it must watch before the scenario begins."""
    quiet: str = QUIET
    rhythm: str = ""
    """For a program that works at intervals: `interval 10s`, or a name of RHYTHMS."""
    timeout: str = ""

    @property
    def username(self) -> str:
        """The user as which its requests come."""
        if self.service_account:
            namespace, _, name = self.service_account.partition("/")
            return f"system:serviceaccount:{namespace}:{name}"
        if self.user or self.certificate:
            return self.user or self.certificate
        return KUBE_SCHEDULER if self.name == SCHEDULER else f"seatrial:{self.name}"

    @property
    def is_scheduler(self) -> bool:
        """Whether a verdict on every pending pod tells that it is idle."""
        return self.idle == "verdicts" or (self.idle is None and not self.waiter and self.name == SCHEDULER)

    @property
    def responsible_for(self) -> tuple[str, ...]:
        """The schedulerName of the pods that it schedules."""
        return self.scheduler_names or _profiles_in(self.command) or (DEFAULT_SCHEDULER,)

    @property
    def quiet_seconds(self) -> float:
        return parse_duration(self.quiet) / SECOND

    @property
    def interval_seconds(self) -> float:
        """The real time between two loops of a program with a rhythm."""
        text = RHYTHMS.get(self.rhythm, self.rhythm)
        return parse_duration(text.removeprefix(INTERVAL)) / SECOND

    @property
    def timeout_seconds(self) -> float:
        return parse_duration(self.timeout or TIMEOUT) / SECOND


class _File(msgspec.Struct, forbid_unknown_fields=True):
    controllers: tuple[OutsideController, ...]


def read_outside(given: Iterable[str], timeout: str = "") -> tuple[OutsideController, ...]:
    """The controllers of all `--outside` options; ConfigError names the option or file and the field."""
    if timeout:
        _check_duration(timeout, TIMEOUT_OPTION)
    found: list[OutsideController] = []
    for text in given:
        found.extend(_one(text, timeout) if _is_short(text) else _in_file(Path(text), timeout))
    for controller in found:
        _check(controller)
    for field, values in (("name", [c.name for c in found]), ("user", [c.username for c in found])):
        twice = next((value for value in values if values.count(value) > 1), None)
        if twice is not None:
            raise ConfigError("", OPTION, f"{field} {twice!r} is used by more than one controller")
    return tuple(found)


def _is_short(text: str) -> bool:
    name, equals, _ = text.partition("=")
    return bool(equals) and "/" not in name


def _one(text: str, timeout: str) -> list[OutsideController]:
    name, _, line = text.partition("=")
    try:
        command = tuple(shlex.split(line))
    except ValueError as error:
        raise ConfigError("", OPTION, f"{text!r} is no command line: {error}") from error
    if not name.strip() or not command:
        raise ConfigError("", OPTION, f"expected NAME=COMMAND or the path of a file, got {text!r}")
    return [OutsideController(canonical(name.strip()), command, timeout=timeout)]


def _in_file(path: Path, timeout: str) -> list[OutsideController]:
    try:
        documents = load_all(path.read_text())
    except OSError as error:
        why = f"expected NAME=COMMAND or the path of a file, got {str(path)!r}: {error.strerror}"
        raise ConfigError("", OPTION, why) from error
    except (ValueError, YamlError) as error:
        raise ConfigError(str(path), "", str(error)) from error
    if len(documents) != 1:
        raise ConfigError(str(path), "", f"expected one document with `controllers`, found {len(documents)}")
    try:
        listed = msgspec.convert(documents[0], _File).controllers
    except msgspec.ValidationError as error:
        raise ConfigError(str(path), "", f"expected one document with `controllers`: {error}") from error
    return [msgspec.structs.replace(one, name=canonical(one.name), timeout=one.timeout or timeout) for one in listed]


def _check(controller: OutsideController) -> None:
    where = f"controller {controller.name}"
    if not controller.name:
        raise ConfigError("", OPTION, "a controller needs a name")
    if controller.command and shutil.which(controller.command[0]) is None:
        raise ConfigError("", f"{where}: command", f"{controller.command[0]} is not a program that can be run")
    if sum(map(bool, (controller.user, controller.service_account, controller.certificate))) > 1:
        raise ConfigError("", where, "give one of user, serviceAccount and certificate")
    if controller.service_account.count("/") != bool(controller.service_account):
        raise ConfigError("", where, f"serviceAccount: expected NAMESPACE/NAME, got {controller.service_account!r}")
    for field in ("quiet", "timeout"):
        text = getattr(controller, field)
        if text:
            _check_duration(text, f"{where}: {field}")
    if controller.rhythm:
        rhythm = RHYTHMS.get(controller.rhythm, controller.rhythm)
        if not rhythm.startswith(INTERVAL):
            known = ", ".join(RHYTHMS)
            why = f"expected `interval` and a duration, or one of {known}; got {controller.rhythm!r}"
            raise ConfigError("", f"{where}: rhythm", why)
        _check_duration(rhythm.removeprefix(INTERVAL), f"{where}: rhythm")
        if controller.is_scheduler or controller.waiter:
            raise ConfigError("", f"{where}: rhythm", "a scheduler or a controller with a waiter has no rhythm")


def _check_duration(text: str, field: str) -> None:
    try:
        seconds = parse_duration(text)
    except DurationError as error:
        raise ConfigError("", field, f"{error}; expected a duration such as 90s or 2m") from error
    if seconds <= 0:
        raise ConfigError("", field, f"expected a duration above zero, got {text!r}")


def config_file(command: Sequence[str]) -> Path | None:
    """The KubeSchedulerConfiguration that a command line names with --config."""
    for place, word in enumerate(command):
        if word == "--config" and place + 1 < len(command):
            return Path(command[place + 1])
        if word.startswith("--config="):
            return Path(word.removeprefix("--config="))
    return None


def _profiles_in(command: Sequence[str]) -> tuple[str, ...]:
    path = config_file(command)
    try:
        documents = load_all(path.read_text()) if path is not None else []
        profiles = [profile for document in documents for profile in document.get("profiles") or ()]
        return tuple(str(profile.get("schedulerName") or DEFAULT_SCHEDULER) for profile in profiles)
    except (OSError, ValueError, TypeError, AttributeError, YamlError):
        # The program itself reports what is wrong with its configuration.
        return ()


def with_kubeconfig(controller: OutsideController, kubeconfig: Path) -> tuple[str, ...]:
    """The command of a controller, with a copy of its KubeSchedulerConfiguration that names the kubeconfig.

    kube-scheduler with --config heeds neither --kubeconfig nor KUBECONFIG, but clientConnection.kubeconfig alone.
    """
    path = config_file(controller.command)
    try:
        documents = load_all(path.read_text()) if path is not None else []
    except (OSError, ValueError, YamlError):
        return controller.command
    document = documents[0] if len(documents) == 1 else None
    if not isinstance(document, dict) or document.get("kind") != "KubeSchedulerConfiguration":
        return controller.command
    connection = document.get("clientConnection") or {}
    if not isinstance(connection, dict):
        return controller.command
    connection = {**connection, "kubeconfig": str(kubeconfig)}
    placed = kubeconfig.with_name(f"{controller.name}.config.json")
    placed.write_bytes(msgspec.json.encode({**document, "clientConnection": connection}))
    return tuple(word.replace(str(path), str(placed)) if str(path) in word else word for word in controller.command)
