"""v1beta3 and v1beta2, which KEP-2891 is written in: read for users and turned into v1, with a warning.

kube-scheduler itself no longer knows them. The KEP's two shorthands are theirs alone: `enabled: "*"` does
nothing, and a bare string in a set stands for a plugin of that name.
"""

from typing import Any

from seatrial.model.documents import Document
from seatrial.scheduler.config.types import GROUP, V1

OLD_VERSIONS = (f"{GROUP}/v1beta3", f"{GROUP}/v1beta2")
_GONE_FIELDS = ("healthzBindAddress", "metricsBindAddress")
_GONE_PLUGINS = frozenset(
    ("AzureDiskLimits", "CinderLimits", "EBSLimits", "GCEPDLimits", "SelectorSpread", "NodePreferAvoidPods")
)


def convert_old(document: Document, minor: str) -> tuple[Document, list[str]]:
    """The v1 document an older one stands for, and what a user should know about it."""
    version = document["apiVersion"]
    warnings = [f"{version} is deprecated and not read by kube-scheduler {minor}: it was converted to {V1}"]
    result = {key: value for key, value in document.items() if key not in _GONE_FIELDS} | {"apiVersion": V1}
    warnings.extend(f"{field} is gone since v1beta3 and was left out" for field in _GONE_FIELDS if field in document)
    profiles = document.get("profiles")
    if isinstance(profiles, list):
        result["profiles"] = [_convert_profile(profile, warnings) for profile in profiles]
    return result, warnings


def _convert_profile(profile: Any, warnings: list[str]) -> Any:
    if not isinstance(profile, dict):
        return profile
    result = dict(profile)
    if isinstance(profile.get("plugins"), dict):
        result["plugins"] = {point: _convert_set(plugins, warnings) for point, plugins in profile["plugins"].items()}
    if isinstance(profile.get("pluginConfig"), list):
        result["pluginConfig"] = [
            _convert_args(config) for config in profile["pluginConfig"] if not _is_gone(config, warnings)
        ]
    return result


def _convert_set(plugins: Any, warnings: list[str]) -> Any:
    if not isinstance(plugins, dict):
        return plugins
    result = dict(plugins)
    for key in ("enabled", "disabled"):
        listed = plugins.get(key)
        if listed == "*":
            listed = ["*"]
        if isinstance(listed, list):
            named = [{"name": entry} if isinstance(entry, str) else entry for entry in listed]
            result[key] = [entry for entry in named if key == "disabled" or not _is_no_op(entry, warnings)]
    return result


def _is_no_op(entry: Any, warnings: list[str]) -> bool:
    return (isinstance(entry, dict) and entry.get("name") == "*") or _is_gone(entry, warnings)


def _is_gone(entry: Any, warnings: list[str]) -> bool:
    gone = isinstance(entry, dict) and entry.get("name") in _GONE_PLUGINS
    if gone:
        warnings.append(f"plugin {entry['name']} no longer exists and was left out")
    return gone


def _convert_args(config: Any) -> Any:
    args = config.get("args") if isinstance(config, dict) else None
    if not isinstance(args, dict) or args.get("apiVersion") not in OLD_VERSIONS:
        return config
    return config | {"args": args | {"apiVersion": V1}}
