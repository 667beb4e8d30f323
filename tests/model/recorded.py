"""Answers of the real libraries, recorded by tools/recorders."""

import gzip
import json
from pathlib import Path
from typing import Any

GOLDEN = Path(__file__).parents[1] / "golden"


def recorded(name: str) -> list[Any]:
    rows: list[Any] = json.loads(gzip.decompress((GOLDEN / f"{name}.json.gz").read_bytes()))
    return rows
