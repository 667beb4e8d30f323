"""A real kube-apiserver is the judge: one script is played against it and against ours, and the answers compared."""

from contextlib import closing
from pathlib import Path

import yaml

from tests.outside.differential import apply_migrations, conversions, every_kind, extensions, rights, streams
from tests.outside.differential.explained import EXPLAINED
from tests.outside.differential.playing import play, unexplained
from tests.outside.processes import OF_THE_PROGRAMS, Serve
from tests.outside.real_apiserver import Client, RealApiserver
from tests.server.admission.webhook_server import WebhookServer

DOCS = Path(__file__).parents[2] / "docs" / "serve.md"


def test_answers_equal_those_of_a_real_kube_apiserver(tmp_path: Path) -> None:
    for name in ("real", "ours"):
        (tmp_path / name).mkdir()
    parts = (every_kind, apply_migrations, extensions, rights, streams)
    with (
        WebhookServer(tmp_path, conversions.convert) as hook,
        RealApiserver(tmp_path / "real") as real,
        Serve(tmp_path / "ours", "--no-scheduler", "--controllers", "", *OF_THE_PROGRAMS) as ours,
    ):
        steps = [step for part in parts for step in part.steps()] + list(conversions.steps(hook.client()))
        token = yaml.safe_load(ours.kubeconfig.read_text())["users"][0]["user"]["token"]
        with closing(Client(ours.port, token)) as client:
            played, found = play(steps, real.client, client)
    left = unexplained(found, EXPLAINED)
    print(f"{played} requests, {len(found)} explained or unexplained differences, {len(left)} unexplained")
    assert played >= 1500
    assert not left, "\n".join(map(str, left[:20]))


def test_every_explained_difference_is_documented() -> None:
    text = " ".join(DOCS.read_text().split())
    assert not [reason for reason in EXPLAINED.values() if reason not in text]
