"""Measures how a sweep speeds up with its processes: 200 short runs in one process and in two.

`python scripts/sweep_throughput.py [POINTS]` on an otherwise idle machine. The throughput is that from the first
outcome to the last one. How long the first one takes, with the start of its process, is printed too.
"""

import sys
import tempfile
import time
from pathlib import Path

import yaml

from seatrial.sweeps import points_of, read_bundle
from seatrial.sweeps.engines.local import LocalEngine

EXAMPLE = Path(__file__).parents[1] / "examples" / "spread-or-binpack"
PROCESSES = (1, 2)


def main(points: int) -> None:
    """Print the throughput of each number of processes, and their ratio."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "sweep.yaml"
        document = {
            "scenarios": [str(EXAMPLE / "scenario.yaml")],
            "schedulerConfigs": [str(EXAMPLE / "scheduler.spread.yaml"), str(EXAMPLE / "scheduler.binpack.yaml")],
            "seeds": points // 2,
        }
        path.write_text(yaml.safe_dump(document))
        bundle = read_bundle(path)
        chosen = points_of(bundle.spec)
        rates = []
        for processes in PROCESSES:
            engine = LocalEngine(bundle, processes)
            times, phases = [time.monotonic()], set()
            for outcome in engine.outcomes(chosen):
                times.append(time.monotonic())
                phases.add(outcome.phase)
            engine.close()
            assert phases == {"Succeeded"}
            began, first, last = times[0], times[1], times[-1]
            rates.append((len(chosen) - 1) / (last - first))
            start = f"the first of {len(chosen)} after {first - began:.1f} s"
            print(f"{processes} processes: {rates[-1]:.1f} points/s; {start}", flush=True)
        print(f"ratio: {rates[1] / rates[0]:.2f}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200)
