"""Adds a node when a pod fits nowhere, up to LIMIT nodes."""

import os
import time
import urllib.error

from tests.outside.gate.toys.api import NODES, PODS, send, watch

LIMIT = int(os.environ.get("LIMIT", "3"))
made = 1
for event in watch(PODS):
    conditions = event["object"].get("status", {}).get("conditions") or []
    waits = any(c["type"] == "PodScheduled" and c["status"] == "False" for c in conditions)
    if event["type"] == "MODIFIED" and waits and not event["object"]["spec"].get("nodeName") and made < LIMIT:
        made += 1
        time.sleep(float(os.environ.get("SECONDS", "0")))
        status = {"allocatable": {"cpu": "8", "memory": "16Gi", "pods": "1"}}
        try:
            send("POST", NODES, {"metadata": {"name": f"n{made}"}, "status": status})
        except urllib.error.HTTPError as error:
            raise SystemExit(error.read().decode()) from error
