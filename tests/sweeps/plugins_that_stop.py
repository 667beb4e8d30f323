"""A plugin for tests: it ends its process, or waits, in clusters of three nodes."""

import os
import time
from pathlib import Path
from typing import Any

from seatrial.plugins import Plugin


class StopsAtThree(Plugin):
    def filter_one(self, pod: Any, node: Any) -> bool:
        if node.name != "node-2":
            return True
        if "SEATRIAL_TEST_HOLD" not in os.environ:
            os._exit(1)
        hold = Path(os.environ["SEATRIAL_TEST_HOLD"])
        if hold.exists():
            hold.with_suffix(".pid").write_text(str(os.getpid()))
        while hold.exists():
            time.sleep(0.02)
        return True
