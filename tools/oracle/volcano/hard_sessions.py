"""Random sessions that are hard for a Volcano scheduler, judged by the oracle (a build of the real scheduler).

    hard_sessions.py make SEED COUNT [FAMILY] > cases.jsonl           random cases, one a line
    hard_sessions.py judge ORACLE cases.jsonl [RUNS]                  replays each here, and RUNS times there
    hard_sessions.py record ORACLE cases.jsonl out.jsonl.xz [RUNS]    keeps the cases on which all runs there agree,
                                                                      events included

Families: hard (the default), topology (topology-aware preemption), and those of plugins in plugin_makers.py. Every case
has a process of its own: some plugins keep what the first session tells them.

The oracle reads a case a line and writes what Volcano's own cache, session, actions and plugins made of it. It throws
Volcano's dice (equal scores, orders of maps): a case whose runs differ is judged by membership.
"""

import json
import lzma
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

from makers import Document
from plugin_makers import EXTENDER, MAKERS

from seatrial.verify.volcano import replay_volcano
from seatrial.verify.volcano_extender import ScriptedExtender

JUDGED = ("binds", "pipelined", "allocatedNotBound", "evicted", "phases", "nominated", "annotations")


def judged(cycles: list[Document]) -> str:
    """The decisions of a case in one line."""
    found = []
    for cycle in cycles:
        phases = {key: group["phase"] for key, group in cycle["podgroups"].items()}
        found.append({name: {**cycle, "phases": phases}.get(name) or {} for name in JUDGED})
    return json.dumps(found, sort_keys=True)


def asked(oracle: str, cases: list[Document], runs: int) -> list[list[Document]]:
    """The answers of the oracle: for each case those of all runs."""
    found = []
    for case in cases:
        Endpoint.rules = ScriptedExtender(case.get("extender", {}))
        text = (json.dumps(case) + "\n") * runs
        done = subprocess.run([oracle, "-probe=false"], input=text, capture_output=True, text=True)
        found.append([json.loads(line) for line in done.stdout.splitlines()] or [{"error": done.stderr[-300:]}])
    return found


class Endpoint(BaseHTTPRequestHandler):
    """The extender that a case with one has."""

    rules: ScriptedExtender

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        code, answer = self.rules.answer(self.path.strip("/"), body)
        self.send_response(code)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def extender() -> Iterator[None]:
    """Serves the endpoint meanwhile."""
    host, _, port = EXTENDER.removeprefix("http://").partition(":")
    with ThreadingHTTPServer((host, int(port)), Endpoint) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield
        finally:
            server.shutdown()


def judge(oracle: str, cases: list[Document], runs: int) -> int:
    """Print the cases that differ; how many."""
    wrong = certain = 0
    for case, answers in zip(cases, asked(oracle, cases, runs), strict=True):
        if any(answer.get("error") for answer in answers):
            print(case["name"], "error", answers[0].get("error", "")[:200])
            continue
        outcomes = {judged(answer["cycles"]) for answer in answers}
        certain += len(outcomes) == 1
        mine = judged(replay_volcano(case, with_probe=False)["cycles"])
        if mine not in outcomes:
            wrong += len(outcomes) == 1
            print("DIFFERS" if len(outcomes) == 1 else "random", case["name"], len(outcomes))
    print(f"{certain - wrong} of {certain} cases with one outcome equal, {len(cases)} cases")
    return wrong


def _is_bind(event: Document) -> bool:
    return event["Reason"] == "Scheduled" and event["Object"].startswith("Pod/")


def record(oracle: str, cases: list[Document], path: str, runs: int) -> None:
    """Write the cases whose runs agree, with what came out."""
    with lzma.open(path, "wt") as out:
        for case, answers in zip(cases, asked(oracle, cases, runs), strict=True):
            errors = any(answer.get("error") for answer in answers)
            for cycle in (cycle for answer in answers for cycle in answer.get("cycles") or ()):
                # Pods are bound by another goroutine: whether their events are there yet is chance.
                cycle["events"] = [each for each in cycle.get("events") or () if not _is_bind(each)]
            outcomes = {
                judged(answer["cycles"])
                + json.dumps([(each["events"], each.get("queueMetrics")) for each in answer["cycles"]], sort_keys=True)
                for answer in answers
                if not errors
            }
            if len(outcomes) == 1:
                out.write(
                    json.dumps(
                        {
                            "case": {**case, "dice": True, "annotations": True},
                            "expect": {"cycles": answers[0]["cycles"]},
                        }
                    )
                    + "\n"
                )


def main() -> None:
    what, *rest = sys.argv[1:]
    if what == "make":
        seed, count, *family = rest
        name = family[0] if family else "hard"
        for number in range(int(count)):
            print(json.dumps(MAKERS[name](int(seed) * 100_000 + number, name).case()))
        return
    cases = [json.loads(line) for line in Path(rest[1]).read_text().splitlines()]
    with extender():
        if what == "judge":
            sys.exit(bool(judge(rest[0], cases, int(rest[2]) if len(rest) > 2 else 4)))
        record(rest[0], cases, rest[2], int(rest[3]) if len(rest) > 3 else 6)


if __name__ == "__main__":
    main()
