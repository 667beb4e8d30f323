"""A scheduler that fills nodes in order. SECONDS: rest before each pod; MODE: how it misbehaves.

PLAIN: its watches do not ask for bookmarks; NODE_SECONDS: how long it takes to note a node.
"""

import json
import os
import sys
import threading
import time

from tests.outside.gate.toys.api import NODES, PODS, Slots, bind, merge, refuse, send, watch

SECONDS = float(os.environ.get("SECONDS", "0"))
MODE = os.environ.get("MODE", "")
slots = Slots()
if MODE == "early":
    # A write outside its turn: it has to wait for the turn.
    send("POST", "/api/v1/namespaces/default/configmaps", {"metadata": {"name": "early"}})
for event in watch(PODS):
    pod = event["object"]
    name = pod["metadata"]["name"]
    if event["type"] == "DELETED":
        slots.taken.pop(name, None)
    if event["type"] != "ADDED" or pod["spec"].get("nodeName"):
        continue
    if MODE == "silent":
        continue
    while MODE == "busy":
        merge(f"{NODES}/n1", {"metadata": {"annotations": {"at": str(time.time())}}})
    time.sleep(SECONDS)
    node = slots.place(name)
    if node is None:
        refuse(name)
        continue
    if MODE == "parallel":
        threading.Thread(target=bind, args=(name, node)).start()
    else:
        bind(name, node)
    if MODE == "explain":
        prefix = "kube-scheduler-simulator.sigs.k8s.io/"
        told = {
            "filter-result": {"n1": {"Toy": "passed"}, "n2": {"Toy": "no slot"}},
            "score-result": {"n1": {"Toy": "7"}},
            "finalscore-result": {"n1": {"Toy": "7"}},
        }
        annotations = {prefix + key: json.dumps(value) for key, value in told.items()}
        merge(f"{PODS}/{name}", {"metadata": {"annotations": annotations}})
    if MODE == "crash":
        sys.exit("the toy has crashed")
