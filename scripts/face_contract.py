"""An import contract for import-linter: other rooms import a room by its face, never by a module inside it.

The face is the `__init__` of the room (`seatrial.store`) or of a folder of it (`seatrial.store.registry`);
`public_modules` in pyproject.toml names the few modules that are imported by their own name.
"""

from grimp import ImportGraph
from importlinter import Contract, ContractCheck, fields, output


class FaceContract(Contract):
    public_modules = fields.SetField(subfield=fields.StringField())
    exempt_importers = fields.SetField(subfield=fields.ModuleField(), required=False)

    def check(self, graph: ImportGraph, verbose: bool) -> ContractCheck:
        exempt = {module.name for module in self.exempt_importers or ()}
        broken = [
            (importer, imported)
            for importer in sorted(graph.modules - exempt)
            for imported in sorted(graph.find_modules_directly_imported_by(importer))
            if _room(importer) != _room(imported) and not self._is_face(imported, graph)
        ]
        return ContractCheck(kept=not broken, metadata={"broken": broken})

    def render_broken_contract(self, check: ContractCheck) -> None:
        for importer, imported in check.metadata["broken"]:
            output.print_error(f"- {importer} -> {imported}: import it from {_face(imported)}")

    def _is_face(self, module: str, graph: ImportGraph) -> bool:
        parent = module.rpartition(".")[0]
        is_package = bool(graph.find_children(module))
        is_public = module in self.public_modules or (f"{parent}.*" in self.public_modules and not is_package)
        return is_public or module.count(".") <= 1 or (is_package and module.count(".") == 2)


def _room(module: str) -> str:
    return ".".join(module.split(".")[:2])


def _face(module: str) -> str:
    return ".".join(module.split(".")[: max(2, min(3, module.count(".")))])
