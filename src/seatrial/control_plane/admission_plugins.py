"""Which admission plugins a server runs: kube-apiserver's --enable-admission-plugins and --disable-admission-plugins.

Every plugin here is on by default, as upstream; one that is enabled and disabled is disabled.
"""

from seatrial.model.errors import ConfigError
from seatrial.server.admission import MutatingPolicyAdmission, PolicyAdmission, WebhookAdmission
from seatrial.store import Store
from seatrial.store.admission import PLUGINS

MUTATING_POLICIES, VALIDATING_POLICIES = "MutatingAdmissionPolicy", "ValidatingAdmissionPolicy"
MUTATING_WEBHOOKS, VALIDATING_WEBHOOKS = "MutatingAdmissionWebhook", "ValidatingAdmissionWebhook"
CONFIGURED = frozenset({MUTATING_POLICIES, VALIDATING_POLICIES, MUTATING_WEBHOOKS, VALIDATING_WEBHOOKS})
"""Plugins whose steps users configure."""
KNOWN = PLUGINS | CONFIGURED


def disabled_plugins(enable: str, disable: str) -> frozenset[str]:
    """The plugins that two lists with commas leave off; ConfigError names one that is not here."""
    for option, names in (("enable", enable), ("disable", disable)):
        for name in filter(None, names.split(",")):
            if name not in KNOWN:
                why = f"{name!r} is not an admission plugin of this server; it has {', '.join(sorted(KNOWN))}"
                raise ConfigError("", f"--{option}-admission-plugins", why)
    return frozenset(filter(None, disable.split(",")))


def add_configured_admission(store: Store, disabled: frozenset[str]) -> None:
    """Put policies and webhooks around the server's own steps; a version may not serve mutating policies yet."""
    if MUTATING_POLICIES not in disabled and any(kind.kind == MUTATING_POLICIES for kind in store.kinds):
        store.admission = MutatingPolicyAdmission(store.admission, store)
    mutates, validates = MUTATING_WEBHOOKS not in disabled, VALIDATING_WEBHOOKS not in disabled
    if mutates or validates:
        store.admission = WebhookAdmission(store.admission, store, mutates=mutates, validates=validates)
    if VALIDATING_POLICIES not in disabled:
        store.admission = PolicyAdmission(store.admission, store)
