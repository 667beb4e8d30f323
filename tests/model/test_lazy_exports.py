"""Every face offers what its imports for type checkers declare, from the module that they name."""

import ast
from importlib import import_module
from pathlib import Path

import pytest

import seatrial

ROOT = Path(seatrial.__file__).parent
FACES = [path for path in sorted(ROOT.rglob("__init__.py")) if "lazy_exports(" in path.read_text()]


@pytest.mark.parametrize("face", FACES, ids=lambda path: ".".join(path.relative_to(ROOT.parent).parts[:-1]))
def test_a_face_offers_the_declared_names(face: Path) -> None:
    package = ".".join(face.relative_to(ROOT.parent).parts[:-1])
    declaration = next(node for node in ast.parse(face.read_text()).body if isinstance(node, ast.If))
    imports = [node for node in declaration.body if isinstance(node, ast.ImportFrom)]
    declared = {alias.name: node.module or "" for node in imports for alias in node.names}

    module = import_module(package)
    assert dir(module) == module.__all__ == sorted(declared)
    assert not [alias.name for node in imports for alias in node.names if alias.asname]
    for name, origin in declared.items():
        assert getattr(module, name) is getattr(import_module(origin), name)
