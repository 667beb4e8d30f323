"""Answers of the real libraries, recorded by tools/recorders."""

import gzip
from pathlib import Path
from typing import Any

import orjson

GOLDEN = Path(__file__).parents[1] / "golden"


def recorded(name: str) -> list[Any]:
    rows: list[Any] = orjson.loads(gzip.decompress((GOLDEN / f"{name}.json.gz").read_bytes()))
    return rows
