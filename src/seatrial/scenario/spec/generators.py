"""Generators: `spec.generators` is expanded into plain operations before the run.

```yaml
generators:
- {id: node, step: 1, count: 500, createOperation: {object: {…, metadata: {name: "node-${index:04d}"}}}}
- {id: wave, step: 2, count: 5000, spread: {steps: 10}, createOperation: …}      # 500 in each of ten steps
- {step: 1, from: {file: cluster.yaml}}                                           # one create per object
- {step: "${=arrival // 60}", from: {csv: trace.csv}, createOperation: …}         # one per row, columns by name
```
"""

import csv
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from seatrial.model.documents import Document, decode, encode
from seatrial.model.errors import ConfigError
from seatrial.scenario.spec.decoding import undecodable
from seatrial.scenario.spec.kind import LAST_STEP, Generator, Operation
from seatrial.scenario.spec.placeholders import Row, Template
from seatrial.store.input_files import check_input, read_input
from seatrial.store.snapshots import manifests_of, read_objects

INDEX = "index"
VERBS = {"create": "Create", "patch": "Patch", "delete": "Delete"}


def expand(generator: Generator, field: str, folder: Path | None, *, discriminated: bool) -> Iterator[bytes]:
    """The encoded operations of one generator; `folder` is where its files are (None: files are refused)."""
    try:
        for made in _expand(generator, folder, discriminated=discriminated):
            _operations.decode(made)
            yield made
    except msgspec.ValidationError as error:
        wrong = undecodable(str(error))
        raise ConfigError("", f"{field}.{wrong.field}", wrong.why) from error
    except _StepError as error:
        raise ConfigError("", f"{field}.step", str(error)) from error
    except (ValueError, OSError, csv.Error) as error:
        raise ConfigError("", field, str(error)) from error
    except RecursionError as error:
        raise ConfigError("", field, "nested too deeply") from error


_operations = msgspec.json.Decoder(Operation)


class _StepError(ValueError):
    """A step that no operation can have."""


def _expand(generator: Generator, folder: Path | None, *, discriminated: bool) -> Iterator[bytes]:
    rows, total = _rows(generator, folder), generator.count or 0
    if generator.source is not None:
        rows = iter(listed := list(rows))
        total = len(listed)
    template, step = _template(generator, discriminated=discriminated), Template(generator.step)
    for position, row in enumerate(rows):
        document = decode(template.fill(row))
        document["step"] = _step(decode(step.fill(row)), _delay(generator, position, total), row)
        if generator.source is not None and generator.source.file:
            document["createOperation"] = {"object": row["object"]}
        if generator.id:
            document["id"] = f"{generator.id}-{row['index']}"
        yield encode(document)


def _rows(generator: Generator, folder: Path | None) -> Iterator[Row]:
    source = generator.source
    if source is None:
        if generator.count is None:
            raise ValueError("expected count or from")
        for index in range(generator.start, generator.start + generator.count):
            yield {"index": index}
        return
    if generator.count is not None or bool(source.file) == bool(source.csv):
        raise ValueError("from takes either file or csv, and no count with it")
    if folder is None:
        raise ValueError("files are read by `seatrial run` only")
    path = folder / (source.file or source.csv)
    if source.csv:
        for index, columns in enumerate(_csv_rows(path), generator.start):
            yield {"index": index, **columns}
        return
    for index, item in enumerate(objects_in(path), generator.start):
        yield {"index": index, "object": item}


def _csv_rows(path: Path) -> Iterator[Row]:
    """The rows of a CSV file by the names in its first line; blank lines are left out."""
    try:
        reader = csv.reader(io.StringIO(read_input(path), newline=""))
    except UnicodeDecodeError as error:
        raise ValueError(f"{path}: not UTF-8 text: {error}") from error
    header = next(reader, [])
    if INDEX in header:
        raise ValueError(f"{path}: a column cannot be named {INDEX}, which is the number of the row")
    if len(set(header)) != len(header):
        raise ValueError(f"{path}: two columns have the same name")
    for row in reader:
        if row and len(row) != len(header):
            raise ValueError(f"{path}: line {reader.line_num}: expected {len(header)} values, got {len(row)}")
        if row:
            yield dict(zip(header, row, strict=True))


def objects_in(path: Path) -> Iterator[Document]:
    """The objects of a file: manifests, lists, dumps and snapshots; those of a cluster as they would be created."""
    check_input(path)
    yield from manifests_of(read_objects([path], named=False))


def _template(generator: Generator, *, discriminated: bool) -> Template:
    bodies = {
        verb: body
        for verb, body in (
            ("create", generator.create_operation),
            ("patch", generator.patch_operation),
            ("delete", generator.delete_operation),
        )
        if body is not None
    }
    if generator.source is not None and generator.source.file:
        if bodies:
            raise ValueError("from.file creates its objects as they are and takes no operation")
        bodies = {"create": {}}
    if len(bodies) != 1:
        raise ValueError("expected one of createOperation, patchOperation, deleteOperation")
    (verb, body), *_ = bodies.items()
    document: dict[str, Any] = {"step": 0}
    if discriminated:
        document["operation"] = VERBS[verb]
    return Template({**document, f"{verb}Operation": body})


def _step(step: Any, delay: int, row: Row) -> int:
    if type(step) is not int or step < 0:
        raise _StepError(f"expected a whole number from 0 on, got {step!r} (row {row['index']})")
    if step + delay > LAST_STEP:
        raise _StepError(f"the last step is {LAST_STEP}, got {step + delay} (row {row['index']})")
    return step + delay


def _delay(generator: Generator, position: int, total: int) -> int:
    if generator.spread is None:
        return 0
    return position * generator.spread.steps // total * generator.spread.every
