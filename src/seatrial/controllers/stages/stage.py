"""One Stage: whom it concerns, how long it waits, and what it then does.

Format: kwok.x-k8s.io/v1alpha1 Stage.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from seatrial.controllers.stages.functions import functions_at
from seatrial.controllers.stages.jq import Query, compile_query
from seatrial.controllers.stages.templates import Template
from seatrial.model import yamls
from seatrial.model.documents import Document, encode
from seatrial.model.durations import parse_duration
from seatrial.model.errors import ConfigError
from seatrial.model.times import MILLISECOND, parse_time
from seatrial.store.options import PatchType

REMEMBERED = 4096
"""How many rendered templates are kept."""


@dataclass(frozen=True, slots=True)
class Requirement:
    """A jq key with an operator, as Stage selectors have it."""

    key: Query
    operator: str
    values: frozenset[str]

    def is_met(self, document: Document) -> bool:
        found = {_plain(value) for value in self.key(document)}
        if self.operator == "Exists":
            return bool(found)
        if self.operator == "DoesNotExist":
            return not found
        return bool(found & self.values) == (self.operator == "In")


@dataclass(frozen=True, slots=True)
class Step:
    """One patch a Stage makes."""

    subresource: str
    root: str
    type: PatchType
    template: Template
    memory: dict[bytes, Any]

    def body(self, document: Document, now: int, start: int) -> Any:
        """The patch for this document: rendered, read as YAML and put under its root."""
        key = self._memory_key(document, now)
        if key is None or key not in self.memory:
            functions = functions_at(now, start, document["metadata"].get("name", ""))
            loaded = yamls.load_all(self.template.render(document, functions))
            body = loaded[0] if loaded else {}
            if key is None:
                return self._rooted(body)
            if len(self.memory) >= REMEMBERED:
                self.memory.clear()
            self.memory[key] = self._rooted(body)
        return self.memory[key]

    def _rooted(self, body: Any) -> Any:
        return {self.root: body} if self.root else body

    def _memory_key(self, document: Document, now: int) -> bytes | None:
        reads = self.template.reads
        if reads is None or "NodeName" in self.template.calls:
            return None
        parts = [_part(document, path) for path in sorted(reads)]
        return encode([now if self.template.calls & {"Now", "StartTime"} else 0, parts])


class Stage:
    """A compiled Stage."""

    def __init__(self, document: Document, source: str = "") -> None:
        spec = document.get("spec", {})
        self.name: str = document.get("metadata", {}).get("name", "")
        self._source = source or f"Stage {self.name}"
        reference = spec.get("resourceRef", {})
        self.kind: tuple[str, str] = reference.get("apiGroup", "v1"), reference.get("kind", "")
        if not self.kind[1]:
            raise self._error("spec.resourceRef.kind", "is required")
        selector = spec.get("selector") or {}
        self._labels: dict[str, str] = selector.get("matchLabels", {})
        self._annotations: dict[str, str] = selector.get("matchAnnotations", {})
        self._requirements = [self._requirement(item) for item in selector.get("matchExpressions", [])]
        self.is_selective = spec.get("selector") is not None
        self._weight: int = spec.get("weight", 0)
        self._weight_from = self._query(spec.get("weightFrom"))
        self._delay = spec.get("delay") or {}
        self._delay_from = self._query(self._delay.get("durationFrom"))
        self._jitter_from = self._query(self._delay.get("jitterDurationFrom"))
        following = spec.get("next") or {}
        self.finalizers: Document = following.get("finalizers") or {}
        self.event: Document | None = following.get("event")
        self.deletes: bool = bool(following.get("delete"))
        self.steps = [self._step(patch) for patch in self._patches(following)]
        for step in spec.get("steps", []):
            self._add_step(step)

    def matches(self, document: Document) -> bool:
        meta = document["metadata"]
        return (
            self._labels.items() <= meta.get("labels", {}).items()
            and self._annotations.items() <= meta.get("annotations", {}).items()
            and all(requirement.is_met(document) for requirement in self._requirements)
        )

    def weight(self, document: Document) -> int:
        found = self._weight_from(document) if self._weight_from else []
        return int(found[0]) if found and str(found[0]).lstrip("-").isdigit() else self._weight

    def delay(self, document: Document, now: int, dice: Callable[[], float]) -> int:
        """Microseconds to wait: the duration, and up to the jitter more where that is longer."""
        wait = self._span(document, now, self._delay_from, "durationMilliseconds") or 0
        longest = self._span(document, now, self._jitter_from, "jitterDurationMilliseconds")
        return wait if longest is None or longest <= wait else wait + int((longest - wait) * dice())

    def _span(self, document: Document, now: int, query: Query | None, field: str) -> int | None:
        found = query(document) if query else []
        if found:
            text = str(found[0])
            try:
                return parse_time(text) - now if "T" in text else parse_duration(text)
            except ValueError:
                pass
        milliseconds = self._delay.get(field)
        return None if milliseconds is None else int(milliseconds) * MILLISECOND

    def _requirement(self, item: Document) -> Requirement:
        item = item.get("jq", item)
        if "key" not in item:
            raise self._error("spec.selector.matchExpressions", "needs a key; CEL expressions are not supported")
        if item.get("operator") not in ("In", "NotIn", "Exists", "DoesNotExist"):
            raise self._error("spec.selector.matchExpressions.operator", f"{item.get('operator')!r} is not known")
        return Requirement(compile_query(item["key"]), item["operator"], frozenset(item.get("values", ())))

    def _query(self, source: Document | None) -> Query | None:
        if source is None:
            return None
        text = source.get("expressionFrom") or (source.get("jq") or {}).get("expression")
        if not text:
            raise self._error("expressionFrom", "is required; CEL expressions are not supported")
        return compile_query(text)

    @staticmethod
    def _patches(following: Document) -> list[Document]:
        patches: list[Document] = list(following.get("patches", []))
        if following.get("statusTemplate"):
            subresource = following.get("statusSubresource", "status")
            patches.append({"subresource": subresource, "root": "status", "template": following["statusTemplate"]})
        return patches

    def _add_step(self, step: Document) -> None:
        if step.get("patch"):
            self.steps.append(self._step(step["patch"]))
        self.event = step.get("event", self.event)
        self.finalizers = step.get("finalizers") or self.finalizers
        self.deletes = self.deletes or bool(step.get("delete"))
        if step.get("apply"):
            raise self._error("spec.steps.apply", "is not supported")

    def _step(self, patch: Document) -> Step:
        is_builtin = "." not in self.kind[0].split("/")[0] or self.kind[0].split("/")[0].endswith(".k8s.io")
        kind: PatchType = patch.get("type") or ("strategic" if is_builtin else "merge")
        try:
            template = Template(patch.get("template", ""))
        except ConfigError as error:
            raise self._error("template", error.why) from error
        return Step(patch.get("subresource", ""), patch.get("root", ""), kind, template, {})

    def _error(self, field: str, why: str) -> ConfigError:
        return ConfigError(self._source, field, why)


def _part(document: Document, path: tuple[str, ...]) -> Any:
    value: Any = document
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def _plain(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)
