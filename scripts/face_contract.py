"""An import contract for import-linter: other rooms import a room by its face, never by a module inside it.

The face is the `__init__` of the room (`seatrial.store`) or of a folder of it (`seatrial.store.registry`);
`public_modules` in pyproject.toml names the few modules that are imported by their own name. A name that is imported
from a face is one that the face declares: it imports the name from a module of its own, or defines it.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

from grimp import ImportGraph
from importlinter import Contract, ContractCheck, fields, output

SOURCES = Path(__file__).parent.parent / "src"


class FaceContract(Contract):
    public_modules = fields.SetField(subfield=fields.StringField())
    exempt_importers = fields.SetField(subfield=fields.ModuleField(), required=False)

    def check(self, graph: ImportGraph, verbose: bool) -> ContractCheck:
        exempt = {module.name for module in self.exempt_importers or ()}
        broken = [
            (importer, imported, f"import it from {_face(imported)}")
            for importer in sorted(graph.modules - exempt)
            for imported in sorted(graph.find_modules_directly_imported_by(importer))
            if _room(importer) != _room(imported) and not self._is_face(imported, graph)
        ]
        broken += _undeclared(graph)
        return ContractCheck(kept=not broken, metadata={"broken": broken})

    def render_broken_contract(self, check: ContractCheck) -> None:
        for importer, imported, remedy in check.metadata["broken"]:
            output.print_error(f"- {importer} -> {imported}: {remedy}")

    def _is_face(self, module: str, graph: ImportGraph) -> bool:
        parent = module.rpartition(".")[0]
        is_package = bool(graph.find_children(module))
        is_public = module in self.public_modules or (f"{parent}.*" in self.public_modules and not is_package)
        return is_public or module.count(".") <= 1 or (is_package and module.count(".") == 2)


def _undeclared(graph: ImportGraph) -> Iterator[tuple[str, str, str]]:
    declared = {package: _declared(package) for package in graph.modules if graph.find_children(package)}
    for importer in sorted(graph.modules):
        for node in ast.walk(_tree(importer)):
            if isinstance(node, ast.ImportFrom) and node.module in declared:
                for name in (alias.name for alias in node.names):
                    if name not in declared[node.module] and f"{node.module}.{name}" not in graph.modules:
                        yield importer, f"{node.module}.{name}", f"declare it in {node.module}/__init__.py"


def _declared(package: str) -> set[str]:
    tree = _tree(package)
    names = {
        alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(f"{package}.")
        for alias in node.names
    }
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names |= {target.id for target in targets if isinstance(target, ast.Name)}
    return names


def _tree(module: str) -> ast.Module:
    path = SOURCES.joinpath(*module.split("."))
    file = path.with_suffix(".py")
    return ast.parse((file if file.exists() else path / "__init__.py").read_bytes())


def _room(module: str) -> str:
    return ".".join(module.split(".")[:2])


def _face(module: str) -> str:
    return ".".join(module.split(".")[: max(2, min(3, module.count(".")))])
