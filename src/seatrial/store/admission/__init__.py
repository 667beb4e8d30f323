"""Upstream's admission plugins: they fill in fields of a write, or refuse it.

`StandardAdmission` carries out, in upstream's order, the plugins that kube-apiserver v1.36 has on by default and that
bear on scheduling. Each step is a function of one `Request` in a module of its own.

Where a simulated cluster differs, on purpose:
- a pod gets `serviceAccountName`, but its account need not exist where no user names it, and no token volume is mounted
  into it: the volume's name is random upstream and has no effect on scheduling;
- a new node gets the not-ready taint only if it says of itself that it is not ready. Upstream taints every new node
  and its node controller takes the taint away once the kubelet reports; a node here is ready when it is made;
- a quota is enforced from `spec.hard` at once, not only after a controller has copied it into the status.
"""

from seatrial.model.lazy_exports import TYPE_CHECKING, lazy_exports

if TYPE_CHECKING:
    from seatrial.store.admission.chain import PLUGINS, StandardAdmission
    from seatrial.store.admission.namespaced_reader import Reader, forbidden
    from seatrial.store.admission.pods import merge_label_keys
    from seatrial.store.admission.priorities import set_priority
    from seatrial.store.admission.quota_charges import charge
    from seatrial.store.admission.quotas import quota_usage
    from seatrial.store.admission.topology import topology_labels
else:
    __getattr__, __dir__ = lazy_exports(__name__)
