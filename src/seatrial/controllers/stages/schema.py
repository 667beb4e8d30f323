"""The published schema of Stages, which `kubectl explain stage` shows. `stage` reads and validates them.

Format: kwok.x-k8s.io/v1alpha1 Stage.
"""

from typing import Any

from seatrial.model.documents import Document


def _text(about: str) -> Document:
    return {"description": about, "type": "string"}


def _number(about: str) -> Document:
    return {"description": about, "type": "integer", "format": "int64"}


def _truth(about: str) -> Document:
    return {"description": about, "type": "boolean"}


def _object(about: str, **properties: Any) -> Document:
    return {"description": about, "type": "object", "properties": properties}


def _list(about: str, item: Document) -> Document:
    return {"description": about, "type": "array", "items": item}


def _texts(about: str) -> Document:
    return {"description": about, "type": "object", "additionalProperties": {"type": "string"}}


def _expression(language: str) -> Document:
    return _object(f"An expression in {language}.", expression=_text("The expression; it sees the whole object."))


def _source(about: str) -> Document:
    return _object(
        about,
        expressionFrom=_text("An expression in jq, as older versions spell it."),
        jq=_expression("jq"),
        cel=_expression("CEL, where the object is self"),
    )


_REQUIREMENT: dict[str, Document] = {
    "key": _text("An expression in jq; its results are compared with the values."),
    "operator": _text("In, NotIn, Exists or DoesNotExist."),
    "values": _list("The values of In and NotIn.", {"type": "string"}),
}
_FINALIZER = _object("A finalizer.", value=_text("Name of the finalizer."))
_PATCH: dict[str, Document] = {
    "subresource": _text("The part of the object that is patched, for example status; by default the object itself."),
    "root": _text("The field that the template fills, for example status; by default the whole patch."),
    "type": _text("json, merge, strategic or apply; by default strategic for pods and nodes, merge for others."),
    "template": _text("A Go template that makes the patch, in YAML, from the object."),
}
_STEP: dict[str, Document] = {
    "event": _object(
        "An Event about the object.",
        type=_text("Normal or Warning."),
        reason=_text("Reason of the Event, in one word."),
        message=_text("Text of the Event."),
    ),
    "finalizers": _object(
        "Finalizers that are added or removed.",
        add=_list("Finalizers to add.", _FINALIZER),
        remove=_list("Finalizers to remove.", _FINALIZER),
        empty=_truth("Whether all finalizers are removed."),
    ),
    "delete": _truth("Whether the object is deleted."),
}
_APPLY = {key: value for key, value in _PATCH.items() if key != "root"}

STAGE_SCHEMA: Document = _object(
    "A rule for the life of objects: those that match are changed after a delay.",
    spec=_object(
        "Which objects the rule is for, when it acts, and what it does.",
        resourceRef=_object(
            "The kind of objects.",
            apiGroup=_text("Group and version of the kind, for example apps/v1; v1 by default."),
            kind=_text("Name of the kind, for example Pod."),
        ),
        selector=_object(
            "The objects that match; all conditions must hold.",
            matchLabels=_texts("Labels that the object has."),
            matchAnnotations=_texts("Annotations that the object has."),
            matchExpressions=_list(
                "Expressions about any field of the object.",
                _object(
                    "One expression.",
                    **_REQUIREMENT,
                    jq=_object("The same in jq, by name.", **_REQUIREMENT),
                    cel=_expression("CEL, where the object is self"),
                ),
            ),
        ),
        weight=_number("How likely this Stage is among those that match; 0 where another has more."),
        weightFrom=_source("The weight, computed from the object."),
        delay=_object(
            "The time between the match and the change.",
            durationMilliseconds=_number("The shortest delay."),
            durationFrom=_source("The shortest delay, or a point in time, computed from the object."),
            jitterDurationMilliseconds=_number("The longest delay; each object gets one in between."),
            jitterDurationFrom=_source("The longest delay, computed from the object."),
        ),
        steps=_list(
            "What is done, in this order.",
            _object(
                "One step.",
                **_STEP,
                patch=_object("A patch of the object.", **_PATCH),
                apply=_object("A server-side apply of the object.", **_APPLY),
            ),
        ),
        next=_object(
            "What is done, as older versions spell it.",
            **_STEP,
            patches=_list("Patches of the object.", _object("A patch of the object.", **_PATCH)),
            statusTemplate=_text("A Go template that makes the status, in YAML, from the object."),
            statusSubresource=_text("The subresource that the status is written to; status by default."),
        ),
        immediateNextStage=_truth("Accepted and not used: the next Stage is always looked for at once."),
    ),
)
