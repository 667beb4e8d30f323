"""Lazy imports of a package's names, each on first use, so that `import package` stays light and acyclic.

A face declares its names once, as imports for type checkers:

    from seatrial.model.lazy_exports import TYPE_CHECKING, lazy_exports

    if TYPE_CHECKING:
        from seatrial.clock.real import RealClock
        from seatrial.clock.virtual import Clock, Timer
    else:
        __getattr__, __dir__ = lazy_exports(__name__)

The imports are not executed, but they are compiled: `co_names` of the face's code lists each module followed by the
names imported from it. Reading them there needs no source file and takes no time at the start.
"""

import sys
from collections.abc import Callable, Iterable
from importlib import import_module
from typing import TYPE_CHECKING, Any

__all__ = ["TYPE_CHECKING", "lazy_exports"]


def lazy_exports(package: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """`__getattr__` and `__dir__` of the package whose `__init__` calls this. `__all__` is an attribute as well."""
    modules = _declared(package, sys._getframe(1).f_code.co_names)

    def find(name: str) -> Any:
        if name in modules:
            return getattr(import_module(modules[name]), name)
        if name == "__all__":
            return sorted(modules)
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return find, lambda: sorted(modules)


def _declared(package: str, compiled_names: Iterable[str]) -> dict[str, str]:
    modules: dict[str, str] = {}
    module = ""
    for name in compiled_names:
        if "." in name:
            module = name
        elif module.startswith(f"{package}.") and module != __name__ and not name.startswith("__"):
            modules[name] = module
    return modules
