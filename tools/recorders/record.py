"""Ask the real libraries what they make of random input, and keep their answers as golden files.

    python tools/recorders/record.py [quantities selectors durations yaml patches apply limits validation]

Needs Go. Each recorder is asked five times; what depends on Go's random order of maps is left out.
"""

import gzip
import json
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

from documents import KINDS, Documents
from mutations import MANIFESTS, cases, question

HERE = Path(__file__).parent
GOLDEN = HERE.parents[1] / "tests" / "golden"
LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
SUFFIXES = (
    """n u m k M G T P E Ki Mi Gi Ti Pi Ei e3 E3 e-3 e+6 e1 e2 e-9 e-12 e17 e25 E-20 i K mi e ee
e99999999999999999999 e4294967299""".split()
    + [""] * 4
)
SCALARS = (
    """y Y n on Off yes no true False null ~ Null 12:30 0777 0o17 0x1F 0b101 -0b11 08 1_000 _1 1e3 1E-3 1.5 .5 -.5
.inf +1 -1 1. 1.0 2030-01-01 2030-01-01T00:00:00Z 18446744073709551615 18446744073709551616 9223372036854775808
-9223372036854775809 1e30 1e400 0x 0b2 +0x1f 0_7 abc = 1.2.3 1:2 10m 1e e1 - -a + 0.1. 100Mi 1e+3 00 0o8 0B11 é
'12' "y" 1e21 -0 0.0 1__0 .5_0 ._5""".split()
    + ["!!str 5", "!!int 5", '!!int "5"', "!!float 3", "!!bool x", "!foo b", "'a b'"]
)


def answers(recorder: str, questions: list[Any]) -> list[Any]:
    """What a recorder says to each question; None where it does not always say the same."""
    text = "\n".join(map(json.dumps, questions))
    command = ["go", "run", "-mod=mod", f"./{recorder}"]
    runs = [subprocess.run(command, cwd=HERE, input=text, capture_output=True, text=True, check=True) for _ in range(5)]
    told = [[json.loads(line) for line in run.stdout.splitlines()] for run in runs]
    return [same[0] if all(other == same[0] for other in same) else None for same in zip(*told, strict=True)]


def keep(name: str, rows: list[Any]) -> None:
    data = json.dumps(rows, ensure_ascii=False, separators=(",", ":")).encode()
    (GOLDEN / f"{name}.json.gz").write_bytes(gzip.compress(data, 9, mtime=0))
    print(f"{name}: {len(rows)} answers")


def quantities() -> None:
    source = random.Random(1)
    digits = lambda most: "".join(source.choices("0123456789", k=source.randint(0, most)))
    numbers = (
        lambda: str(source.randint(0, 5000)),
        lambda: digits(22),
        lambda: f"{digits(5)}.{digits(4)}",
        lambda: f"{digits(20)}.{digits(20)}",
        lambda: str(source.choice([1, 1024, 8, 2**63 - 1, 2**63, 999, 512])) + "0" * source.randint(0, 6),
        lambda: "0" * source.randint(0, 3) + "." + "0" * source.randint(0, 12) + digits(3),
        lambda: "".join(source.choices("0123456789.+-eEinumkKMGTPx,", k=source.randint(1, 6))),
    )
    texts = [
        source.choice(["", "", "+", "-"]) + source.choice(numbers)() + source.choice(SUFFIXES) for _ in range(2500)
    ]
    rows = answers("quantities", [[text] for text in texts])
    rows = [row for row in rows if row is not None and "NaN" not in row]
    keep("values/quantities", rows)
    good = [row[0] for row in rows if len(row) > 2]
    pairs = [[source.choice(good), source.choice(good)] for _ in range(1500)]
    keep("values/quantity_pairs", [row for row in answers("quantities", pairs) if row is not None])


def durations() -> None:
    source = random.Random(2)
    digits = lambda most: "".join(source.choices("0123456789", k=source.randint(0, most)))
    part = lambda: (
        source.choice([digits(3), digits(20), f"{digits(3)}.{digits(4)}"])
        + source.choice(["h", "m", "s", "ms", "us", "µs", "ns", "d"])
    )
    texts = [
        source.choice(["", "", "-", "+"]) + "".join(part() for _ in range(source.randint(0, 3))) for _ in range(1000)
    ]
    keep("values/durations", answers("durations", texts))


def yaml() -> None:
    source = random.Random(3)
    scalar = lambda: source.choice(SCALARS)
    shapes = (
        lambda: f"a: {scalar()}",
        lambda: f"- {scalar()}\n- {scalar()}",
        lambda: f"{scalar()}: 1\nzz: 2",
        lambda: f"a: &x\n  b: {scalar()}\nd: *x\ne:\n  <<: *x\n  z: 2",
        lambda: f"a: |\n  x\n  y\nb: >\n  {scalar()}\n  z\nc: {{d: [1], e: f}}",
    )
    texts = dict.fromkeys(source.choice(shapes)() for _ in range(2000))
    keep("values/yaml", [row for row in answers("yaml", list(texts)) if row is not None])


def selectors() -> None:
    source = random.Random(4)
    keys, values = ["a", "b", "x/y", "in", "k8s.io/app"], ["1", "2", "x", "", "-3", "10", "in"]
    odd = [*keys, "-a", "é", "Ab/c", "", "/x", "a/b/c", "z" * 64], [*values, "a b", "9" * 20, "é", "q" * 70]

    def requirement(keys: list[str], values: list[str]) -> str:
        operator = source.choice(["=", "==", "!=", " in ", " notin ", ">", "<", "!", ""])
        key = source.choice(keys)
        if operator in ("!", ""):
            return operator + key
        if "in" in operator:
            return f"{key}{operator}({','.join(source.choices(values, k=source.randint(0, 3)))})"
        return f"{key} {operator}{source.choice(values)}"

    def expression(operators: list[str], keys: list[str], values: list[str]) -> dict[str, Any]:
        chosen = source.choices(values, k=source.choice([0, 1, 1, 2]))
        return {"key": source.choice(keys), "operator": source.choice(operators), "values": chosen}

    def question() -> dict[str, Any]:
        labels = [{source.choice(keys): source.choice(values) for _ in range(source.randint(0, 4))} for _ in range(6)]
        of = (keys, values) if source.random() < 0.7 else odd
        operators = ["In", "NotIn", "Exists", "DoesNotExist"]
        match source.randrange(5):
            case 0:
                tokens = ["a", "b", "x/y", "in", "notin", "=", "==", "!=", "!", "(", ")", ",", " ", ">", "<", "1", "=!"]
                return {
                    "Kind": "text",
                    "Text": "".join(source.choices(tokens, k=source.randint(0, 9))),
                    "Labels": labels,
                }
            case 1:
                text = ",".join(requirement(*of) for _ in range(source.randint(0, 4)))
                return {"Kind": "text", "Text": text, "Labels": labels}
            case 2:
                selector = {"matchLabels": {source.choice(of[0]): source.choice(of[1])}}
                selector["matchExpressions"] = [expression(operators, *of) for _ in range(source.randint(0, 3))]
                return {"Kind": "doc", "Selector": source.choice([None, *[selector] * 8]), "Labels": labels}
            case 3:
                tokens = ["metadata.name", "a", "b", "=", "!=", "==", ",", "\\", "\\,", "1", "x"]
                text = "".join(source.choices(tokens, k=source.randint(0, 8)))
                return {"Kind": "field", "Text": text, "Labels": labels}
        terms = []
        for _ in range(source.randint(0, 3)):
            fields = [{"key": "metadata.name", "operator": source.choice(["In", "NotIn"]), "values": ["n1"]}]
            expressions = [expression([*operators, "Gt", "Lt"], *of) for _ in range(source.randint(0, 2))]
            terms.append({"matchExpressions": expressions, "matchFields": fields[: source.choice([0, 0, 1])]})
        name = source.choice(["n1", "n2"])
        return {"Kind": "node", "Node": {"nodeSelectorTerms": terms}, "Name": name, "Labels": labels}

    questions = [question() for _ in range(1500)]
    rows = zip(questions, answers("selectors", questions), strict=True)
    keep("values/selectors", [[q, a] for q, a in rows if a is not None and (q["Kind"] != "node" or len(a) > 1)])


def patches() -> None:
    source = Documents(5)
    questions = []
    for _ in range(1200):
        kind = source.one(*KINDS)
        document = source.document(kind)
        form = source.one("json", "merge", "strategic", "strategic", "strategic")
        patch = source.operations(document) if form == "json" else source.patch(source.document(kind))
        questions.append({"Type": form, "Kind": kind, "Doc": document, "Patch": patch})
    rows = zip(questions, answers("patches", questions), strict=True)
    keep(
        "values/patches",
        [[q, a] for q, a in rows if a is not None and a[1] != "panic" and isinstance(a[0] or {}, dict)],
    )


def apply() -> None:
    source = Documents(6)
    questions = [_sequence(source) for _ in range(160)]
    rows = zip(questions, answers("apply", questions), strict=True)
    keep("apply/sequences", [[q, a] for q, a in rows if a is not None])


def _sequence(source: Documents) -> dict[str, Any]:
    kind = source.one(*KINDS)
    steps = []
    for _ in range(source.random.randint(2, 5)):
        operation = source.one("apply", "apply", "update")
        document = source.thinned(source.document(kind))
        document["metadata"]["name"] = "n"
        if operation == "apply" and source.maybe(0.05):
            document["bogus"] = 1
        if operation == "update" and source.maybe(0.1):
            document["metadata"]["managedFields"] = source.one([], [{}])
        if source.maybe(0.15):
            last = {**source.thinned(source.document(kind)), "apiVersion": KINDS[kind], "kind": kind}
            document["metadata"]["annotations"] = {LAST_APPLIED: json.dumps(last)}
        step = {"Op": operation, "Manager": source.one("a", "b", "c", "kubectl"), "Force": source.maybe(0.3)}
        steps.append({**step, "Subresource": "status" if source.maybe(0.15) else "", "Object": document})
    return {"ApiVersion": KINDS[kind], "Kind": kind, "Steps": steps}


def limits() -> None:
    source = random.Random(7)
    questions = [{"Pod": _pod(source), "Range": _limit_range(source)} for _ in range(400)]
    rows = zip(questions, answers("limits", questions), strict=True)
    keep("admission/limits", [[q, a] for q, a in rows if a is not None])


def _resources(source: random.Random, share: float = 0.6) -> dict[str, str]:
    amounts = {"cpu": ["100m", "1", "1500m", "0"], "memory": ["1Gi", "512Mi", "1e9"], "ephemeral-storage": ["1Gi"]}
    amounts |= {"example.com/gpu": ["1", "2"], "hugepages-2Mi": ["4Mi"]}
    return {name: source.choice(given) for name, given in amounts.items() if source.random() < share}


def _pod(source: random.Random) -> dict[str, Any]:
    def container(name: str, **more: Any) -> dict[str, Any]:
        share = source.choice([0.2, 0.7])
        return {"name": name, "resources": {part: _resources(source, share) for part in ("requests", "limits")}, **more}

    names = [f"c{i}" for i in range(source.randint(1, 3))]
    starting = [
        container(f"i{i}", **({"restartPolicy": "Always"} if source.random() < 0.5 else {}))
        for i in range(source.randint(0, 3))
    ]
    spec: dict[str, Any] = {"containers": [container(name) for name in names], "initContainers": starting}
    if source.random() < 0.3:
        spec["overhead"] = _resources(source, 0.4)
    if source.random() < 0.25:
        spec["resources"] = {"requests": {"cpu": "3"}, "limits": {"cpu": "4", "memory": "2Gi"}}
    status: dict[str, Any] = {"phase": source.choice(["Pending", "Running", "Running", "Failed"])}
    if source.random() < 0.3:
        status["containerStatuses"] = [
            {"name": names[0], "resources": {"requests": _resources(source)}, "allocatedResources": _resources(source)}
        ]
        if source.random() < 0.3:
            status["conditions"] = [{"type": "PodResizePending", "status": "True", "reason": "Infeasible"}]
    metadata: dict[str, Any] = {"name": "p"}
    if source.random() < 0.2:
        metadata["deletionTimestamp"] = source.choice(["2029-12-31T23:59:00Z", "2029-12-31T23:59:55Z"])
        metadata["deletionGracePeriodSeconds"] = 30
    return {"metadata": metadata, "spec": spec, "status": status}


def _limit_range(source: random.Random) -> dict[str, Any]:
    limits = []
    for _ in range(source.randint(0, 3)):
        limit: dict[str, Any] = {"type": source.choice(["Container", "Pod"])}
        for field in ("min", "max", "maxLimitRequestRatio", "default", "defaultRequest"):
            if source.random() < 0.35 and not (limit["type"] == "Pod" and field.startswith("default")):
                limit[field] = {source.choice(["cpu", "memory"]): source.choice(["500m", "1", "2", "1Gi", "1.5"])}
        limits.append(limit)
    return {"metadata": {"name": "l"}, "spec": {"limits": limits}}


def validation() -> None:
    asked = list(cases())
    told = zip(asked, answers("validation", [question(case) for case in asked]), strict=True)
    rows = [[*case, causes] for case, causes in told if isinstance(causes, list)]
    keep("validation/causes", [MANIFESTS, rows])


RECORDERS = {f.__name__: f for f in (quantities, selectors, durations, yaml, patches, apply, limits, validation)}

if __name__ == "__main__":
    for name in sys.argv[1:] or RECORDERS:
        RECORDERS[name]()
