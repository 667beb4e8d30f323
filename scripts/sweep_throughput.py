"""Measures how a sweep speeds up with its processes: 200 short runs in one process and in two.

`python scripts/sweep_throughput.py [POINTS]` on an otherwise idle machine. The time is that of the engine: from the
start of its processes to the last outcome, their start included.
"""

import sys
import tempfile
import time
from pathlib import Path

import yaml

from seatrial.sweep import points_of, read_bundle
from seatrial.sweep.engines.local import LocalEngine

EXAMPLE = Path(__file__).parents[1] / "examples" / "node-saving"
PROCESSES = (1, 2)


def main(points: int) -> None:
    """Print the throughput of each number of processes, and their ratio."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "sweep.yaml"
        document = {
            "scenarios": [str(EXAMPLE / "scenario.yaml")],
            "schedulerConfigs": ["default", str(EXAMPLE / "scheduler.most.yaml")],
            "seeds": points // 2,
        }
        path.write_text(yaml.safe_dump(document))
        bundle = read_bundle(path)
        chosen = points_of(bundle.spec)
        rates = []
        for processes in PROCESSES:
            engine = LocalEngine(bundle, processes)
            began = time.monotonic()
            phases = {outcome.phase for outcome in engine.outcomes(chosen)}
            seconds = time.monotonic() - began
            engine.close()
            assert phases == {"Succeeded"}
            rates.append(len(chosen) / seconds)
            print(f"{processes} processes: {len(chosen)} points in {seconds:.1f} s, {rates[-1]:.2f} points/s")
        print(f"ratio: {rates[1] / rates[0]:.2f}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200)
