"""A scheduler that takes one pod after the other, binds in another thread, and has one call of ours (KEP-140)."""

import threading
import time
from queue import Queue
from typing import Any

from seatrial.outside.client import next_pod
from tests.outside.gate.toys.api import PODS, Slots, bind, follow

queue: Queue[str] = Queue()


def notice(event: dict[str, Any]) -> None:
    if event["type"] == "ADDED" and not event["object"]["spec"].get("nodeName"):
        queue.put(event["object"]["metadata"]["name"])


def schedule_one(pod: str) -> None:
    next_pod(f"default/{pod}")
    node = slots.place(pod)
    if node is None:
        time.sleep(0.01)
        queue.put(pod)
        return
    threading.Thread(target=bind, args=(pod, node)).start()


slots = Slots()
follow(PODS, notice)
while True:
    schedule_one(queue.get())
