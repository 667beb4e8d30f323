"""How an in-tree plugin declares the arguments it takes from pluginConfig: types, defaults and validation.

Upstream: k8s.io/kube-scheduler/config/v1/types_pluginargs.go, pkg/scheduler/apis/config/v1/defaults.go and
apis/config/validation/validation_pluginargs.go.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from seatrial.model.documents import Document
from seatrial.scheduler.config.shapes import STRING, Field, Record
from seatrial.scheduler.config.types import V1
from seatrial.scheduler.versions import Rules, Version

Gates = Mapping[str, bool]
"""Every feature gate with its state; one that is not there is on."""


def _no_defaults(args: Document, gates: Gates) -> None:
    """Leaves the arguments as they are."""


def _no_problems(args: Document, path: str, gates: Gates) -> Iterator[str]:
    return iter(())


def _no_build_problems(args: Document, rules: Rules) -> Iterator[str]:
    return iter(())


@dataclass(frozen=True, slots=True)
class Arguments:
    """The arguments of one plugin."""

    plugin: str
    fields: Mapping[str, Field]
    defaults: Callable[[Document, Gates], None] = _no_defaults
    """fills in what the arguments leave out, in place"""
    problems: Callable[[Document, str, Gates], Iterator[str]] = _no_problems
    """what validation finds in the defaulted arguments at a path"""
    build_problems: Callable[[Document, Rules], Iterator[str]] = _no_build_problems
    """what the plugin's factory finds; paths start at the arguments"""
    gated: Mapping[str, tuple[frozenset[str], str]] = field(default_factory=dict)
    """by argument: the feature gates without any of which it has no default, and why it is forbidden then"""
    lacks: frozenset[str] = frozenset()
    """arguments that the version does not have"""

    def for_version(self, version: Version) -> "Arguments":
        """Without the arguments that a version does not have."""
        lacks = version.missing_arguments.get(self.plugin)
        if not lacks:
            return self
        fields = {name: value for name, value in self.fields.items() if name not in lacks}
        return replace(self, fields=fields, lacks=lacks)

    @property
    def kind(self) -> str:
        return f"{self.plugin}Args"

    @property
    def type(self) -> Record:
        """The Go type."""
        return Record(f"v1.{self.kind}", {"apiVersion": Field(STRING), "kind": Field(STRING), **self.fields})

    def set_defaults(self, args: Document, gates: Gates) -> None:
        """Fills in what the arguments leave out; `args` is changed."""
        without = [
            one
            for one, (needed, _) in self.gated.items()
            if one not in args and not all(gates.get(gate, True) for gate in needed)
        ]
        args.setdefault("apiVersion", V1)
        args.setdefault("kind", self.kind)
        self.defaults(args, gates)
        for one in (*without, *self.lacks):
            args.pop(one, None)
