"""A program that looks at the cluster every INTERVAL seconds of real time, and labels one node that has no label.

MODE=idle: it only reads. MODE=blind: it writes once, and reads nothing.
"""

import os
import time

from tests.outside.gate.toys.api import NODES, merge, send

while os.environ.get("MODE") == "blind":
    send("POST", "/api/v1/namespaces/default/configmaps", {"metadata": {"name": "early"}})
    time.sleep(3600)
while True:
    time.sleep(float(os.environ.get("INTERVAL", "0.6")))
    for node in send("GET", NODES)["items"]:
        if "seen" not in node["metadata"].get("labels", {}) and os.environ.get("MODE") != "idle":
            merge(f"{NODES}/{node['metadata']['name']}", {"metadata": {"labels": {"seen": "yes"}}})
            break
