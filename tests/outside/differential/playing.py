"""Plays the script against a real kube-apiserver and against ours, and compares the answers."""

import re
import time
from collections.abc import Iterable
from dataclasses import dataclass

from tests.outside.differential.normalising import differences, normalised
from tests.outside.differential.steps import Answers, Step
from tests.outside.real_apiserver import Client, Reply

PATIENCE = 10.0


@dataclass(frozen=True)
class Difference:
    """One step whose two answers are not equal."""

    step: Step
    lines: tuple[str, ...]

    def __str__(self) -> str:
        return "\n".join(
            (f"{self.step.name}  [{self.step.method} {self.step.path}]", *("    " + x for x in self.lines))
        )


def play(steps: Iterable[Step], real: Client, ours: Client) -> tuple[int, list[Difference]]:
    """The number of steps, and those that differ."""
    found: list[Difference] = []
    number = 0
    remembered: tuple[Answers, Answers] = ({}, {})
    for step in steps:
        number += 1
        time.sleep(step.pause)
        replies = [_send(step, client, answers) for client, answers in zip((real, ours), remembered, strict=True)]
        lines = compare(*replies)
        if lines:
            found.append(Difference(step, tuple(lines)))
    return number, found


def _send(step: Step, client: Client, answers: Answers) -> Reply:
    end = time.monotonic() + PATIENCE
    while True:
        reply = client.request(step.method, step.path, step.body_for(answers), step.headers)
        if not step.repeat or reply.status < 400 or time.monotonic() > end:
            break
        time.sleep(0.1)
    if step.save:
        try:
            answers[step.save] = reply.json()
        except ValueError:
            answers[step.save] = {}
    return reply


def compare(real: Reply, ours: Reply) -> list[str]:
    """What differs between two answers: status, media type, warnings and body."""
    lines: list[str] = []
    if real.status != ours.status:
        lines.append(f"status: {real.status} != {ours.status}")
    lines += [
        f"{header}: {real.all(header)} != {ours.all(header)}"
        for header in ("content-type", "warning")
        if real.all(header) != ours.all(header)
    ]
    lines += differences(normalised(real.body), normalised(ours.body))
    if not lines and real.body.endswith(b"\n") != ours.body.endswith(b"\n"):
        lines.append("only one body ends in a newline")
    return lines


def unexplained(found: Iterable[Difference], explained: dict[str, str]) -> list[Difference]:
    """The differences of which at least one line is matched by no pattern."""
    patterns = [re.compile(pattern, re.DOTALL) for pattern in explained]
    left = []
    for difference in found:
        head = f"{difference.step.name} | "
        lines = tuple(line for line in difference.lines if not any(p.search(head + line) for p in patterns))
        if lines:
            left.append(Difference(difference.step, lines))
    return left
