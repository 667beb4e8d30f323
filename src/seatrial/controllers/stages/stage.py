"""One Stage: its selector, its delay and its steps.

Format: kwok.x-k8s.io/v1alpha1 Stage.
"""

from collections.abc import Callable
from typing import Any

from seatrial.controllers.stages.jq import Query, compile_query
from seatrial.controllers.stages.selector import SelectorError, read_selector
from seatrial.controllers.stages.steps import (
    ApplyStep,
    DeleteStep,
    EventStep,
    FinalizerStep,
    PatchStep,
    Rendering,
    Step,
)
from seatrial.controllers.stages.templates import Template
from seatrial.model import cel
from seatrial.model.cel import CelError, CelSyntaxError
from seatrial.model.documents import Document
from seatrial.model.durations import parse_duration
from seatrial.model.errors import ConfigError
from seatrial.model.times import MILLISECOND, parse_time
from seatrial.store.options import PatchType

STRATEGIC_KINDS = (("v1", "Pod"), ("v1", "Node"))
PATCH_TYPES = ("json", "merge", "strategic", "apply")


def read_stage(document: Document) -> "Stage":
    """The Stage of a document that a client wrote; ConfigError where it is not a valid one."""
    try:
        return Stage(document)
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        name = document["metadata"].get("name", "")
        raise ConfigError(f"Stage {name}", "spec", f"does not have the fields of a Stage: {error}") from error


class Stage:
    """A compiled Stage."""

    def __init__(self, document: Document, source: str = "") -> None:
        spec = document.get("spec") or {}
        self.name: str = document.get("metadata", {}).get("name", "")
        self._source = source or f"Stage {self.name}"
        reference = spec.get("resourceRef") or {}
        self.kind: tuple[str, str] = reference.get("apiGroup") or "v1", reference.get("kind", "")
        if not self.kind[1]:
            raise self._error("spec.resourceRef.kind", "is required")
        self.is_selective = spec.get("selector") is not None
        try:
            self.selector = read_selector(spec.get("selector") or {})
        except SelectorError as error:
            raise self._error("spec.selector", str(error)) from error
        self._weight: int = spec.get("weight", 0)
        self._weight_from = self._query(spec.get("weightFrom"), "spec.weightFrom")
        self._delay: Document = spec.get("delay") or {}
        self.has_delay = bool(self._delay)
        self._delay_from = self._query(self._delay.get("durationFrom"), "spec.delay.durationFrom")
        self._jitter_from = self._query(self._delay.get("jitterDurationFrom"), "spec.delay.jitterDurationFrom")
        self.steps = [*self._next_steps(spec.get("next") or {})]
        for step in spec.get("steps") or ():
            self.steps += self._steps(step)

    def weight(self, document: Document) -> int | None:
        """How likely this Stage is among those that match; None where its expression gives no number."""
        found = self._weight_from(document) if self._weight_from else []
        if not found:
            return self._weight
        try:
            return int(found[0], 0) if isinstance(found[0], str) else int(found[0])
        except (TypeError, ValueError):
            return None

    def delay(self, document: Document, now: int, dice: Callable[[], float]) -> int:
        """Microseconds to wait: from the duration up to the jitter, or the jitter where that is shorter."""
        wait = self._span(document, now, self._delay_from, "durationMilliseconds")
        if wait is None:
            return 0
        if "jitterDurationMilliseconds" not in self._delay and self._jitter_from is None:
            return wait
        longest = self._span(document, now, self._jitter_from, "jitterDurationMilliseconds")
        if longest is None or not self._jitter_is_said(document):
            return wait
        return longest if longest <= wait else wait + int((longest - wait) * dice())

    def _jitter_is_said(self, document: Document) -> bool:
        said = self._jitter_from(document) if self._jitter_from else []
        return bool(said) or "jitterDurationMilliseconds" in self._delay

    def _span(self, document: Document, now: int, query: Query | None, field: str) -> int | None:
        found = query(document) if query else []
        if found and isinstance(found[0], str):
            if not found[0]:
                return None
            try:
                return parse_time(found[0]) - now if "T" in found[0] else parse_duration(found[0])
            except ValueError:
                pass
        return int(self._delay.get(field) or 0) * MILLISECOND

    def _query(self, source: Document | None, field: str) -> Query | None:
        if source is None:
            return None
        cel = (source.get("cel") or {}).get("expression")
        if cel:
            return self._cel_query(cel, field)
        text = (source.get("jq") or {}).get("expression") or source.get("expressionFrom")
        if not text:
            raise self._error(field, "needs an expression")
        return compile_query(text)

    def _cel_query(self, text: str, field: str) -> Query:
        try:
            program = cel.compile_expression(text, frozenset({"self"}))
        except CelSyntaxError as error:
            raise self._error(field, f"CEL {text!r}: {error}") from error

        def results(document: Any) -> list[Any]:
            try:
                return [program.evaluate({"self": document})]
            except CelError:
                return []

        return results

    def _next_steps(self, following: Document) -> list[Step]:
        """The older field `next` as steps: event, finalizers, deletion, patches, status."""
        said = {key: following[key] for key in ("event", "finalizers", "delete") if following.get(key)}
        steps = self._steps(said)
        for patch in following.get("patches") or ():
            steps += self._steps({"patch": patch})
        if following.get("statusTemplate"):
            subresource = following.get("statusSubresource", "status")
            patch = {"subresource": subresource, "root": "status", "template": following["statusTemplate"]}
            steps += self._steps({"patch": patch})
        return steps

    def _steps(self, step: Document) -> list[Step]:
        steps: list[Step] = []
        if event := step.get("event"):
            steps.append(EventStep(event.get("type", ""), event.get("reason", ""), event.get("message", "")))
        if finalizers := step.get("finalizers"):
            added = tuple(item["value"] for item in finalizers.get("add") or ())
            removed = frozenset(item["value"] for item in finalizers.get("remove") or ())
            steps.append(FinalizerStep(added, removed, bool(finalizers.get("empty"))))
        if step.get("delete"):
            steps.append(DeleteStep())
        if patch := step.get("patch"):
            kind = self._patch_type(patch, "strategic" if self.kind in STRATEGIC_KINDS else "merge")
            rendering = self._rendering(patch)
            steps.append(PatchStep(patch.get("subresource", ""), patch.get("root", ""), kind, rendering))
        if apply := step.get("apply"):
            kind = self._patch_type(apply, "apply")
            steps.append(ApplyStep(apply.get("subresource", ""), kind, self._rendering(apply)))
        return steps

    def _patch_type(self, patch: Document, otherwise: PatchType) -> PatchType:
        kind: PatchType = patch.get("type") or otherwise
        if kind not in PATCH_TYPES:
            raise self._error("type", f"{kind!r} is not one of {', '.join(PATCH_TYPES)}")
        return kind

    def _rendering(self, patch: Document) -> Rendering:
        try:
            return Rendering(Template(patch.get("template", "")))
        except ConfigError as error:
            raise self._error("template", error.why) from error

    def _error(self, field: str, why: str) -> ConfigError:
        return ConfigError(self._source, field, why)
