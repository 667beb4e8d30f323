#!/usr/bin/env python3
"""Records the answers of the oracle of a version to the inputs of recorded cases.

    record.py ORACLE OUT INPUTS.jsonl.xz ... [--runs 20] [--most 13]

Every input is asked several times; what is random in that version (devices before v1.36, ties among preemption
candidates) differs between runs and is dropped, and so is what the version refuses to read. Of each file the smallest
cases are kept, OUT has one file for each. Standard error says how many were refused, random and kept.
"""

import argparse
import gzip
import json
import lzma
import subprocess
import sys
import tempfile
from pathlib import Path


def asked(oracle: Path, inputs: list[str], runs: int) -> tuple[dict[int, str], int, int]:
    """The cases of inputs to which all runs gave one answer, and how many were refused and random."""
    with tempfile.TemporaryDirectory() as name:
        for number, text in enumerate(inputs):
            Path(name, f"{number}.json").write_text(text)
        answers: list[dict[int, str]] = []
        for _ in range(runs):
            out = Path(name, f"run{len(answers)}")
            out.mkdir()
            # A case that is refused ends with 1, the others are written all the same.
            files = sorted(str(path) for path in Path(name).glob("*.json"))
            subprocess.run([str(oracle), "run", "-j", "2", "-o", str(out), *files], check=False, stderr=subprocess.PIPE)
            read = {int(path.name.split(".")[0]): gzip.decompress(path.read_bytes()) for path in out.glob("*.gz")}
            answers.append({number: text.decode().strip() for number, text in read.items()})
    given = set.union(*(set(run) for run in answers))
    stable = {number: text for number, text in answers[0].items() if all(run.get(number) == text for run in answers)}
    return stable, len(inputs) - len(given), len(given) - len(stable)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("oracle", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("files", type=Path, nargs="+")
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--most", type=int, default=13)
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    for file in given.files:
        lines = lzma.decompress(file.read_bytes()).decode().splitlines()
        inputs = [json.dumps(json.loads(line)["input"]) for line in lines]
        stable, refused, random = asked(given.oracle, inputs, given.runs)
        kept = sorted(sorted(stable, key=lambda number: len(stable[number]))[: given.most])
        with lzma.open(given.out / file.name, "wt", preset=9) as out:
            out.writelines(f"{stable[number]}\n" for number in kept)
        counts = f"{len(lines)} inputs, {refused} refused, {random} random, {len(kept)} kept"
        print(f"{file.name}: {counts}", file=sys.stderr)


if __name__ == "__main__":
    main()
