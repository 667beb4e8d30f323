"""Aggregates scheduling results from the annotations of Pods (KEP-140: functions on results).

kube-scheduler-simulator and `seatrial serve` write the answers of the plugins into annotations of each Pod. These
functions read them from the Pods themselves, as `kubectl get pods -o json` prints them, without any result file.
"""

import json
from collections.abc import Iterable, Iterator
from typing import Any

import polars as pl

from seatrial.model.documents import Document
from seatrial.model.errors import ConfigError
from seatrial.timeline import PASSED, PREFIX

FILTER, SCORE, FINAL = (f"{PREFIX}{key}" for key in ("filter-result", "score-result", "finalscore-result"))
SELECTED = f"{PREFIX}selected-node"
_CELL = {
    "pod": pl.String,
    "node": pl.String,
    "plugin": pl.String,
    "filter": pl.String,
    "score": pl.Int64,
    "final": pl.Int64,
    "selected": pl.Boolean,
}


def annotated_results(pods: Iterable[Document]) -> pl.DataFrame:
    """One row for each pod, node and plugin of the last attempt: filter verdict, score, final score."""
    return pl.DataFrame([cell for pod in pods for cell in _cells(pod)], schema=_CELL, orient="row")


def annotated_rejections(pods: Iterable[Document]) -> pl.DataFrame:
    """Why nodes were rejected, over all pods: one row for each plugin and reason, with pods and nodes."""
    rejected = annotated_results(pods).filter(pl.col("filter").is_not_null() & (pl.col("filter") != PASSED))
    return (
        rejected.group_by("plugin", pl.col("filter").alias("reason"))
        .agg(pl.col("pod").n_unique().cast(pl.Int64).alias("pods"), pl.len().cast(pl.Int64).alias("nodes"))
        .sort("nodes", "plugin", "reason", descending=[True, False, False])
    )


def _cells(pod: Document) -> Iterator[tuple[Any, ...]]:
    metadata = pod.get("metadata") or {}
    annotations = metadata.get("annotations") or {}
    name = f"{metadata.get('namespace', 'default')}/{metadata.get('name', '')}"
    filters, scores, finals = (_read(annotations, key, name) for key in (FILTER, SCORE, FINAL))
    for node in dict.fromkeys((*filters, *scores, *finals)):
        of_node = [answers.get(node) or {} for answers in (filters, scores, finals)]
        for plugin in dict.fromkeys(plugin for answers in of_node for plugin in answers):
            verdict, score, final = (answers.get(plugin) for answers in of_node)
            selected = annotations.get(SELECTED) == node
            yield name, node, plugin, verdict, _number(score), _number(final), selected


def _read(annotations: Document, key: str, pod: str) -> Document:
    """An annotation: node -> plugin -> answer."""
    try:
        answers = json.loads(annotations.get(key) or "{}")
    except ValueError as error:
        raise ConfigError(pod, f"metadata.annotations[{key}]", f"not JSON: {error}") from error
    return answers if isinstance(answers, dict) else {}


def _number(text: Any) -> int | None:
    return None if text is None else int(text)
