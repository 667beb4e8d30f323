"""A loaded configuration: what a scheduler is built from.

`load_configuration` goes the way of kube-scheduler's start: decode strictly, fill in defaults, validate, build the
profiles. It either gives a Configuration or raises ConfigurationError with the stage and every problem of that stage.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from seatrial.model.documents import Document
from seatrial.model.durations import parse_duration
from seatrial.model.times import SECOND
from seatrial.scheduler.config.decoding import decode_configuration
from seatrial.scheduler.config.defaulting import apply_configuration_defaults, enabled_names
from seatrial.scheduler.config.expansion import CannotBuild, PluginRef, Points, expand
from seatrial.scheduler.config.field_errors import ConfigurationError
from seatrial.scheduler.config.gates import effective_gates
from seatrial.scheduler.config.types import KIND, POD_GROUP_POST_FILTER, V1
from seatrial.scheduler.config.validation import validation_problems
from seatrial.scheduler.plugins.registry import in_tree_points
from seatrial.scheduler.versions import DEFAULT, Version

__all__ = ["Configuration", "Extender", "PluginRef", "Profile", "default_configuration", "load_configuration"]


@dataclass(frozen=True, slots=True)
class Profile:
    """One scheduler name with its plugins at every extension point, after MultiPoint expansion."""

    name: str
    plugins: Mapping[str, tuple[PluginRef, ...]]
    args: Mapping[str, Document]
    """Defaulted arguments (pluginConfig) of the plugins that are needed, by plugin."""
    percentage_of_nodes_to_score: int | None = None

    def resolved(self) -> Document:
        """The profile as a document: point -> [{name, weight}], weights only where a point has them."""
        result: Document = {
            "schedulerName": self.name,
            "plugins": {
                point: [{"name": ref.name} | ({"weight": ref.weight} if ref.weight else {}) for ref in refs]
                for point, refs in self.plugins.items()
                if point != POD_GROUP_POST_FILTER
            },
        }
        if self.percentage_of_nodes_to_score is not None:
            result["percentageOfNodesToScore"] = self.percentage_of_nodes_to_score
        return result


@dataclass(frozen=True, slots=True)
class Extender:
    """One HTTP extender; times are microseconds."""

    url_prefix: str
    filter_verb: str = ""
    preempt_verb: str = ""
    prioritize_verb: str = ""
    bind_verb: str = ""
    weight: int = 0
    enable_https: bool = False
    tls: Document | None = None
    http_timeout: int = 0
    node_cache_capable: bool = False
    managed_resources: tuple[str, ...] = ()
    ignored_resources: tuple[str, ...] = ()
    """Those of the managed resources that NodeResourcesFit does not look at."""
    ignorable: bool = False


@dataclass(frozen=True, slots=True)
class Configuration:
    """A KubeSchedulerConfiguration that is known to be good; times are microseconds."""

    profiles: tuple[Profile, ...]
    percentage_of_nodes_to_score: int = 0
    initial_backoff: int = SECOND
    max_backoff: int = 10 * SECOND
    parallelism: int = 16
    extenders: tuple[Extender, ...] = ()
    version: Version = DEFAULT
    gates: Mapping[str, bool] = field(default_factory=lambda: DEFAULT.defaults, repr=False)
    """Every feature gate of the version with its state; one that the version no longer has is on."""
    warnings: tuple[str, ...] = ()
    document: Document = field(default_factory=dict, repr=False, compare=False)
    """The defaulted v1 document; see `writing`."""

    @property
    def switched(self) -> dict[str, bool]:
        """The feature gates that are not as the version has them by default."""
        return {name: on for name, on in sorted(self.gates.items()) if on != self.version.defaults[name]}

    @property
    def profile_names(self) -> list[str]:
        """The scheduler names of the profiles."""
        return [profile.name for profile in self.profiles]

    def is_on(self, gate: str) -> bool:
        """Whether a feature gate is on."""
        return self.gates.get(gate, True)

    def profile(self, scheduler_name: str) -> Profile | None:
        """The profile that schedules pods of this schedulerName."""
        return next((profile for profile in self.profiles if profile.name == scheduler_name), None)


def load_configuration(
    source: Document | str | None = None,
    *,
    versions: Literal["upstream", "users"] = "users",
    gates: Mapping[str, bool] | None = None,
    plugins: Points | None = None,
    version: Version = DEFAULT,
) -> Configuration:
    """Load a configuration from a document or YAML/JSON text; None gives the defaults.

    `versions` says which apiVersions are read: v1 alone, as kube-scheduler does, or also v1beta3 and v1beta2, which
    are converted.
    `plugins` names plugins beyond the in-tree ones with the extension points they implement; `version` is the one whose
    defaults and rules hold.
    """
    effective = effective_gates(gates, version)
    if source is None:
        document: Document = {"apiVersion": V1, "kind": KIND}
        warnings: list[str] = []
    else:
        document, warnings = decode_configuration(source, version, old_versions=versions == "users")
    apply_configuration_defaults(document, version, effective)
    problems = list(validation_problems(document, version, effective))
    if problems:
        raise ConfigurationError("validate", problems)
    profiles = _build_profiles(document["profiles"], {**in_tree_points(version), **(plugins or {})}, version)
    return Configuration(
        profiles=profiles,
        percentage_of_nodes_to_score=document["percentageOfNodesToScore"],
        initial_backoff=document["podInitialBackoffSeconds"] * SECOND,
        max_backoff=document["podMaxBackoffSeconds"] * SECOND,
        parallelism=document["parallelism"],
        extenders=tuple(_extender(extender) for extender in document.get("extenders", ())),
        version=version,
        gates=effective,
        warnings=tuple(warnings),
        document=document,
    )


def default_configuration(version: Version = DEFAULT) -> Configuration:
    """What kube-scheduler runs with when it is given no configuration."""
    return load_configuration(None, version=version)


def _build_profiles(documents: list[Document], known: Points, version: Version) -> tuple[Profile, ...]:
    profiles: list[Profile] = []
    for document in documents:
        name = document["schedulerName"]
        try:
            plugins = expand(document, known, version)
        except CannotBuild as error:
            text = f"initializing profiles: creating profile for scheduler name {name}: {error}"
            raise ConfigurationError("build", [text], unknown_plugin=error.unknown_plugin) from error
        needed = set(enabled_names(document["plugins"]))
        args = {
            config["name"]: config["args"]
            for config in document["pluginConfig"]
            if config.get("name") in needed and config.get("args") is not None
        }
        profile = Profile(name, plugins, args, document.get("percentageOfNodesToScore"))
        _check_queue_sort(profile, profiles)
        profiles.append(profile)
    return tuple(profiles)


def _check_queue_sort(profile: Profile, earlier: list[Profile]) -> None:
    """All profiles share one queue, hence one way to sort it."""
    if not earlier:
        return
    own, first = profile.plugins["queueSort"][0].name, earlier[0].plugins["queueSort"][0].name
    text = ""
    if own != first:
        text = f'different queue sort plugins for profile "{profile.name}": "{own}", first: "{first}"'
    elif profile.args.get(own) != earlier[0].args.get(first):
        text = f'different queue sort plugin args for profile "{profile.name}"'
    if text:
        raise ConfigurationError("build", [f"initializing profiles: {text}"])


def _extender(document: Document) -> Extender:
    managed = document.get("managedResources", [])
    return Extender(
        url_prefix=document.get("urlPrefix", ""),
        filter_verb=document.get("filterVerb", ""),
        preempt_verb=document.get("preemptVerb", ""),
        prioritize_verb=document.get("prioritizeVerb", ""),
        bind_verb=document.get("bindVerb", ""),
        weight=document.get("weight", 0),
        enable_https=document.get("enableHTTPS", False),
        tls=document.get("tlsConfig"),
        http_timeout=parse_duration(document.get("httpTimeout", "0s")),
        node_cache_capable=document.get("nodeCacheCapable", False),
        managed_resources=tuple(resource.get("name", "") for resource in managed),
        ignored_resources=tuple(r.get("name", "") for r in managed if r.get("ignoredByScheduler")),
        ignorable=document.get("ignorable", False),
    )
