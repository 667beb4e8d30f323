"""Plugins written by users: found in a module that is named, or by the entry point group `seatrial.plugins`."""

import importlib
import importlib.util
import sys
import traceback
from collections.abc import Iterable
from contextlib import redirect_stdout
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType

from seatrial.model.errors import ConfigError
from seatrial.scheduler.framework.interface import Plugin
from seatrial.scheduler.plugins.registry import Registry, plugins_in, points_of

GROUP = "seatrial.plugins"
_installed: set[type[Plugin]] = set()


def load_plugins(modules: Iterable[str] = ()) -> list[type[Plugin]]:
    """All plugin classes of the named modules (or .py files) and of installed packages, each once."""
    found: dict[str, type[Plugin]] = {}
    for entry in sorted(entry_points(group=GROUP), key=lambda entry: entry.name):
        try:
            loaded = entry.load()
        except (Exception, SystemExit) as error:
            raise _unusable(entry.value, error) from error
        classes = plugins_in(loaded) if isinstance(loaded, ModuleType) else [loaded]
        _installed.update(classes)
        found.update((plugin.__name__, plugin) for plugin in classes)
    for name in modules:
        classes = plugins_in(load_module(name))
        if not classes:
            raise ConfigError(name, "", "no class in it is a seatrial.plugins.Plugin")
        found.update((plugin.__name__, plugin) for plugin in classes)
    return list(found.values())


def is_installed(plugin: type[Plugin]) -> bool:
    """Whether a plugin comes from an installed package and was not asked for by name."""
    return plugin in _installed


def known_points(plugins: Iterable[type[Plugin]]) -> dict[str, tuple[str, ...]]:
    """The extension points of users' plugins by name, checked as the registry checks them."""
    classes = list(plugins)
    Registry(classes)
    return {plugin.__name__: points_of(plugin) for plugin in classes}


def load_module(name: str) -> ModuleType:
    """The module of a dotted name or of a .py file; ConfigError if it does not exist.

    What it prints goes to standard error: standard output is the answer of a command.
    """
    with redirect_stdout(sys.stderr):
        return _load_module(name)


def _load_module(name: str) -> ModuleType:
    path = Path(name)
    if path.suffix == ".py":
        return _module_of_file(name, path)
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is not None and (name == error.name or name.startswith(f"{error.name}.")):
            raise ConfigError(
                name, "", "there is no such module (expected my.module or a path ending in .py)"
            ) from error
        raise _unusable(name, error) from error
    except (Exception, SystemExit) as error:
        raise _unusable(name, error) from error


def _module_of_file(name: str, path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"seatrial_plugins_{path.stem}", path)
    if spec is None or spec.loader is None or not path.is_file():
        raise ConfigError(name, "", "there is no such file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[module.__name__] = module
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[module.__name__]
        raise _unusable(name, error) from error
    return module


def _unusable(name: str, error: BaseException) -> ConfigError:
    """Says what a module raised when it was loaded, and in which line."""
    why = f"{type(error).__name__}: {error}"
    frames = traceback.extract_tb(error.__traceback__)
    if frames and not isinstance(error, SyntaxError):
        why += f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno})"
    return ConfigError(name, "", f"cannot be loaded: {why}")
