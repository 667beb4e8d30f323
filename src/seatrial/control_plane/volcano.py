"""Volcano in `serve`: its kinds and webhooks, its controllers and its scheduler."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from seatrial.control_plane.components import Parts, Settings


def install_volcano(parts: "Parts") -> None:
    """Serve Volcano's kinds, before any object of them is loaded."""
    from seatrial.volcano.apis.install import install

    install(parts.store)


def add_volcano(parts: "Parts", settings: "Settings") -> None:
    """Run vc-controller-manager and vc-scheduler on the server's loop."""
    from seatrial.volcano.controllers.registry import build_controllers

    controllers = build_controllers(parts.store, parts.clock)
    controllers.start()
    parts.workers.append(controllers)
