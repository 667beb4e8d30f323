"""A whole server keeps the rows of its pods once: with 50,000 pods each index takes 20 MB."""

import pytest

from seatrial.control_plane.components import Settings, compose
from seatrial.controllers.framework import PodIndex


def test_all_controllers_of_a_server_read_pods_from_one_index(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[PodIndex] = []
    start = PodIndex.start

    def noted(index: PodIndex) -> None:
        started.append(index)
        start(index)

    monkeypatch.setattr(PodIndex, "start", noted)
    parts = compose(Settings(scheduler=False, insecure=True))
    assert started and all(index is started[0] for index in started)
    for stop in parts.on_stop:
        stop()
