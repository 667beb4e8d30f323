"""The endpoint of recorded sessions with Volcano's extender plugin.

A case says what it answers, by verb: which share of the questions is answered how. Which ones is drawn by a checksum of
what is asked, so that every asker gets the same answers.
"""

from typing import Any
from zlib import crc32

from seatrial.model.documents import Document, decode, encode
from seatrial.scheduler.config import Extender

OK, FAILED = 200, 500


class ScriptedExtender:
    """Answers by the rules of a case; a `Transport`."""

    def __init__(self, rules: Document) -> None:
        self._rules = rules

    def post(self, extender: Extender, url: str, body: bytes, timeout: int) -> tuple[int, bytes]:
        return self.answer(url.rpartition("/")[2], body)

    def answer(self, verb: str, body: bytes) -> tuple[int, bytes]:
        """Status code and body of the answer to a question."""
        question = decode(body) or {}
        if self._is_drawn(verb, "failing", verb, *_names(question)):
            return FAILED, b""
        make = getattr(self, f"_{verb}", None)
        return OK, b"{}" if make is None else encode(make(question))

    def _is_drawn(self, verb: str, what: str, *names: str) -> bool:
        """Whether a question belongs to the share (in percent) that a rule is about."""
        share: int = self._rules.get(verb, {}).get(what, 0)
        return crc32("/".join((what, *names)).encode()) % 100 < share

    def _predicate(self, question: Document) -> Document:
        names = _names(question)
        if not self._is_drawn("predicate", "denied", *names):
            return {}
        return {"status": f"node {names[1]} is not for {names[0]}", "code": self._rules["predicate"].get("code", 0)}

    def _prioritize(self, question: Document) -> Document:
        task = question["task"]["Name"]
        if self._is_drawn("prioritize", "denied", task):
            return {"errorMessage": "no scores today"}
        most = self._rules["prioritize"].get("most", 100)
        nodes = [node["Name"] for node in question.get("nodes") or ()]
        return {"nodeScore": {node: crc32(f"{task}/{node}".encode()) % (most * 4) / 4 for node in nodes}}

    def _preemptable(self, question: Document, verb: str = "preemptable") -> Document:
        listed = question.get("evictees") or []
        spared = [task for task in listed if not self._is_drawn(verb, "denied", task["Name"])]
        return {"victims": spared, "status": self._rules[verb].get("vote", 1)}

    def _reclaimable(self, question: Document) -> Document:
        return self._preemptable(question, "reclaimable")

    def _jobEnqueueable(self, question: Document) -> Document:
        name = question["job"]["Name"]
        denied, abstained = (self._is_drawn("jobEnqueueable", what, name) for what in ("denied", "abstained"))
        return {"status": -1 if denied else 0 if abstained else 1}

    def _queueOverused(self, question: Document) -> Document:
        return {"overused": self._is_drawn("queueOverused", "denied", question["queue"]["Name"])}

    def _jobReady(self, question: Document) -> Document:
        return {"status": not self._is_drawn("jobReady", "denied", question["job"]["Name"])}

    def _allocateFunc(self, question: Document) -> Document:
        task = question["task"]
        denied = self._is_drawn("allocateFunc", "denied", task["Name"], task["NodeName"])
        return {"errorMessage": "not here" if denied else ""}


def _names(question: Any) -> list[str]:
    """What a question is about: the names of its task, node, job or queue."""
    parts = [question.get(part) for part in ("task", "evictor", "node", "job", "queue")]
    return [part["Name"] for part in parts if part]
