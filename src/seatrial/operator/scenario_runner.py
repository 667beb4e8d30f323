"""`seatrial scenario-runner`: steps 2 to 5 of KEP-184, from the template file to the result file.

Scenarios and results may have hundreds of megabytes, so only the answer of the last request holds the whole object, and
it is copied to the file as it arrives; the phase is read from the table that `kubectl get` prints.
"""

import http.client
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from seatrial.model.documents import decode
from seatrial.model.errors import ConfigError, SeatrialError
from seatrial.operator.scenario_template import ScenarioTemplate, read_template
from seatrial.scenario.output_files import write_whole
from seatrial.scenario.spec.kind import API_VERSION

SCENARIOS = f"/apis/{API_VERSION}/scenarios"
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
METADATA = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"
SUCCEEDED, FAILED, PAUSED = "Succeeded", "Failed", "Paused"
ANSWER_TIMEOUT = 3600
"""Seconds for one answer: a simulator that reads a very large scenario answers late."""
POLLED_EVERY = 0.2
CHUNK = 1 << 20


class RunnerError(SeatrialError):
    """The scenario was not carried out to its end."""


@dataclass(frozen=True, slots=True)
class RunnerOptions:
    """Options of `seatrial scenario-runner`."""

    template: Path
    result: Path
    port: int
    host: str = "127.0.0.1"
    wait: float = 300.0
    """Seconds until the API server has to be ready."""
    paused: float = 5.0
    """Seconds that a scenario may be Paused with nothing left to do."""
    append_done: bool = False
    silence: float = 15.0
    """Seconds without a connection after which the simulator counts as ended."""


class ScenarioRunner:
    """Runs one scenario in a simulator and stores its result."""

    def __init__(self, options: RunnerOptions, say: Callable[[str], None]) -> None:
        self._options = options
        self._say = say

    def run(self) -> None:
        """Run the scenario to its end; RunnerError where it did not succeed, after the result has been stored."""
        check_writable(self._options.result)
        template = read_template(self._options.template, append_done=self._options.append_done)
        self._wait_until_ready()
        self._create(template)
        phase, message = self._follow(template.name)
        self._store(template.name)
        if phase == PAUSED:
            raise RunnerError(f"scenario {template.name} ended {PAUSED}, without Done: {message}")
        if phase != SUCCEEDED:
            raise RunnerError(f"scenario {template.name} {phase}: {message}")

    def _wait_until_ready(self) -> None:
        end = time.monotonic() + self._options.wait
        self._say(f"waiting for {self._address}")
        while not self._is_ready():
            if time.monotonic() > end:
                raise RunnerError(f"{self._address} was not ready within {self._options.wait:g} s")
            time.sleep(POLLED_EVERY)

    def _is_ready(self) -> bool:
        try:
            code, _ = self._request("GET", "/readyz")
        except OSError:
            return False
        return code == 200

    def _create(self, template: ScenarioTemplate) -> None:
        code, answer = self._request("POST", SCENARIOS, template.body, METADATA)
        if code == 409:
            self._say(f"scenario {template.name} exists already")
        elif code >= 400:
            raise ConfigError(str(self._options.template), "", _refusal(code, answer))
        else:
            self._say(f"created scenario {template.name}, {len(template.body)} bytes")

    def _follow(self, name: str) -> tuple[str, str]:
        """Phase and message of the scenario at its end."""
        paused_since: float | None = None
        for phase, message in self._phases(name):
            if phase in (SUCCEEDED, FAILED):
                return phase, message
            if phase != PAUSED:
                paused_since = None
            elif paused_since is None:
                paused_since = time.monotonic()
            if paused_since is not None and time.monotonic() >= paused_since + self._options.paused:
                return phase, message
        raise AssertionError("the phases go on until the end")

    def _phases(self, name: str) -> Iterator[tuple[str, str]]:
        heard, said = time.monotonic(), ""
        while True:
            try:
                code, answer = self._request("GET", f"{SCENARIOS}/{name}?includeObject=None", accept=TABLE)
            except OSError as error:
                if time.monotonic() > heard + self._options.silence:
                    raise RunnerError(f"{self._address} no longer answers: {error}") from error
            else:
                if code >= 400:
                    raise RunnerError(f"scenario {name} cannot be read: {_refusal(code, answer)}")
                heard = time.monotonic()
                phase, message = _phase(answer)
                if phase and phase != said:
                    self._say(f"scenario {name} is {phase}")
                    said = phase
                yield phase, message
            time.sleep(POLLED_EVERY)

    def _store(self, name: str) -> None:
        """Copy the Scenario to the result file, which appears as a whole."""
        connection = self._connect()
        try:
            connection.request("GET", f"{SCENARIOS}/{name}", headers={"Accept": "application/json"})
            answer = connection.getresponse()
            if answer.status != 200:
                raise RunnerError(f"scenario {name} cannot be read: {_refusal(answer.status, answer.read())}")
            write_whole(self._options.result, iter(lambda: answer.read(CHUNK), b""))
        except (OSError, http.client.HTTPException) as error:
            raise RunnerError(f"the result cannot be stored in {self._options.result}: {error}") from error
        finally:
            connection.close()
        self._say(f"stored the result in {self._options.result}")

    @property
    def _address(self) -> str:
        return f"http://{self._options.host}:{self._options.port}"

    def _connect(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection(self._options.host, self._options.port, timeout=ANSWER_TIMEOUT)

    def _request(
        self, method: str, path: str, body: bytes | None = None, accept: str = "application/json"
    ) -> tuple[int, bytes]:
        connection = self._connect()
        try:
            connection.request(method, path, body, {"Accept": accept, "Content-Type": "application/json"})
            answer = connection.getresponse()
            return answer.status, answer.read()
        except http.client.HTTPException as error:
            raise ConnectionError(str(error) or type(error).__name__) from error
        finally:
            connection.close()


def check_writable(result: Path) -> None:
    """Find out before a long scenario whether its result can be stored."""
    try:
        result.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(str(result), "scenarioResultFilePath", error.strerror or str(error)) from error
    if result.is_dir():
        raise ConfigError(str(result), "scenarioResultFilePath", "expected the path of a file, got a directory")
    if not os.access(result.parent, os.W_OK):
        raise ConfigError(str(result), "scenarioResultFilePath", f"{result.parent} cannot be written to")


def _phase(answer: bytes) -> tuple[str, str]:
    """Phase and message in the table of one Scenario."""
    table: Any = decode(answer)
    columns = [column["name"] for column in table.get("columnDefinitions") or ()]
    if "Phase" not in columns or not table.get("rows"):
        raise RunnerError("the simulator does not print the phase of a Scenario: its image is not compatible")
    cells = dict(zip(columns, table["rows"][0]["cells"], strict=True))
    return cells["Phase"] or "", cells.get("Message") or ""


def _refusal(code: int, answer: bytes) -> str:
    try:
        status = decode(answer)
    except ValueError:
        status = None
    said = status.get("message") if isinstance(status, dict) else answer.decode(errors="replace")[:200]
    return f"{said or 'no reason given'} ({code})"
