"""Plays operations on a dump until no timer is left."""

import json
from pathlib import Path
from typing import Any

import polars as pl

import seatrial
from seatrial.controllers import DRAIN
from seatrial.results.measures.workloads import workloads
from seatrial.results.result import Result
from tests.scenario.playing import done, operations, scenario

Document = dict[str, Any]


def written(folder: Path, dump: bytes) -> Path:
    path = folder / "cluster.json"
    path.write_bytes(dump)
    return path


def play(cluster: Path, *steps: Document) -> Result:
    return seatrial.run(scenario(operations(*steps, done(1))), snapshot=cluster, drain=True, record="summary")


def table(result: Result) -> pl.DataFrame:
    return workloads(result.run)


def row(result: Result, name: str) -> Document:
    return table(result).row(by_predicate=pl.col("name") == name, named=True)


def target(node: str) -> Document:
    return {"typeMeta": {"apiVersion": "v1", "kind": "Node"}, "objectMeta": {"name": node}}


def gone(node: str) -> Document:
    return {"step": 1, "deleteOperation": target(node)}


def drained(node: str, **options: Any) -> Document:
    notes = {"metadata": {"annotations": {DRAIN: json.dumps(options)}}}
    return {"step": 1, "patchOperation": {**target(node), "patch": json.dumps(notes)}}


def items(dump: bytes, kind: str) -> list[Document]:
    return [item for item in json.loads(dump)["items"] if item["kind"] == kind]


def nodes_of_zone(dump: bytes, zone: str) -> list[str]:
    nodes = items(dump, "Node")
    return [n["metadata"]["name"] for n in nodes if n["metadata"]["labels"]["topology.kubernetes.io/zone"] == zone]
