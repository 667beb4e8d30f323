"""SEATRIAL_KERNEL: whether the compiled kernel is used, and what is said where it cannot be."""

import sys
from types import ModuleType

import pytest

from seatrial.model.errors import ConfigError
from seatrial.scheduler.evaluator.kernel_choice import INTERFACE, MODULE, VARIABLE, chosen_kernel, kernel_in_use


def kernel(interface: int) -> ModuleType:
    module = ModuleType(MODULE)
    module.__dict__.update(INTERFACE=interface, __version__="9.9")
    return module


def install(monkeypatch: pytest.MonkeyPatch, module: ModuleType | None, choice: str) -> None:
    monkeypatch.setitem(sys.modules, MODULE, module)
    monkeypatch.setenv(VARIABLE, choice)


@pytest.mark.parametrize("choice", ["auto", "on", ""])
def test_an_installed_kernel_is_used(choice: str, monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, kernel(INTERFACE), choice)
    assert chosen_kernel() is sys.modules[MODULE]
    assert kernel_in_use() == "kernel 9.9"


def test_a_kernel_that_is_switched_off_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, kernel(INTERFACE), "off")
    assert chosen_kernel() is None
    assert kernel_in_use() == "without kernel"


@pytest.mark.parametrize("module", [None, kernel(INTERFACE + 1)], ids=["absent", "of another interface"])
def test_without_a_fitting_kernel_python_does_the_work(
    module: ModuleType | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(monkeypatch, module, "auto")
    assert chosen_kernel() is None


def test_a_kernel_that_is_demanded_and_not_installed_is_an_error_with_a_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, None, "on")
    with pytest.raises(ConfigError, match="make kernel"):
        chosen_kernel()


def test_an_unknown_choice_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "maybe")
    with pytest.raises(ConfigError, match="expected auto, on, off, got 'maybe'"):
        chosen_kernel()
