"""The types of kubescheduler.config.k8s.io/v1, field by field.

Upstream: k8s.io/kube-scheduler/config/v1 and k8s.io/component-base/config/v1alpha1 (v0.36.3).
"""

from seatrial.scheduler.config.shapes import (
    BOOL,
    DURATION,
    FLOAT32,
    INT32,
    INT64,
    RAW,
    STRING,
    Field,
    Listing,
    Record,
    always,
    pointer,
)

GROUP = "kubescheduler.config.k8s.io"
V1 = f"{GROUP}/v1"
KIND = "KubeSchedulerConfiguration"

CYCLE_POINTS = (
    "preEnqueue",
    "queueSort",
    "preFilter",
    "filter",
    "postFilter",
    "preScore",
    "score",
    "reserve",
    "permit",
    "preBind",
    "bind",
    "postBind",
)
"""Extension points of a pod's way, in its order."""

POD_GROUP_POST_FILTER = "podGroupPostFilter"
"""An extension point of pod groups; a resolved profile does not list it."""

BUILD_ORDER = (
    "preFilter",
    "filter",
    "postFilter",
    "reserve",
    "preScore",
    "score",
    "preBind",
    "bind",
    "postBind",
    "permit",
    "preEnqueue",
    "queueSort",
)
"""Extension points in the order the framework fills them: the first one that is wrong gives the error. Those of pod
groups and placements follow."""

_TYPE_META = {"apiVersion": Field(STRING), "kind": Field(STRING)}

_PLUGIN = Record("v1.Plugin", {"name": always(STRING), "weight": pointer(INT32)})
_PLUGIN_SET = Record("v1.PluginSet", {"enabled": Field(Listing(_PLUGIN)), "disabled": Field(Listing(_PLUGIN))})
_PLUGIN_CONFIG = Record("v1.PluginConfig", {"name": always(STRING), "args": pointer(RAW)})
_LEADER_ELECTION = Record(
    "v1alpha1.LeaderElectionConfiguration",
    {
        "leaderElect": always(BOOL),
        "leaseDuration": always(DURATION),
        "renewDeadline": always(DURATION),
        "retryPeriod": always(DURATION),
        "resourceLock": always(STRING),
        "resourceName": always(STRING),
        "resourceNamespace": always(STRING),
    },
)
_CLIENT_CONNECTION = Record(
    "v1alpha1.ClientConnectionConfiguration",
    {
        "kubeconfig": always(STRING),
        "acceptContentTypes": always(STRING),
        "contentType": always(STRING),
        "qps": always(FLOAT32),
        "burst": always(INT32),
    },
)
_TLS = Record(
    "v1.ExtenderTLSConfig",
    {
        "insecure": Field(BOOL),
        **{
            name: Field(STRING)
            for name in ("serverName", "certFile", "keyFile", "caFile", "certData", "keyData", "caData")
        },
    },
)
_EXTENDER = Record(
    "v1.Extender",
    {
        "urlPrefix": always(STRING),
        "filterVerb": Field(STRING),
        "preemptVerb": Field(STRING),
        "prioritizeVerb": Field(STRING),
        "weight": Field(INT64),
        "bindVerb": Field(STRING),
        "enableHTTPS": Field(BOOL),
        "tlsConfig": pointer(_TLS),
        "httpTimeout": always(DURATION),
        "nodeCacheCapable": Field(BOOL),
        "managedResources": Field(
            Listing(
                Record("v1.ExtenderManagedResource", {"name": always(STRING), "ignoredByScheduler": Field(BOOL)}),
            )
        ),
        "ignorable": Field(BOOL),
    },
)


def configuration_type(group_points: tuple[str, ...]) -> Record:
    """The Go type KubeSchedulerConfiguration with these extension points of pod groups and placements."""
    points = (*CYCLE_POINTS, *group_points, "multiPoint")
    profile = Record(
        "v1.KubeSchedulerProfile",
        {
            "schedulerName": pointer(STRING),
            "percentageOfNodesToScore": pointer(INT32),
            "plugins": pointer(Record("v1.Plugins", {point: always(_PLUGIN_SET) for point in points})),
            "pluginConfig": Field(Listing(_PLUGIN_CONFIG)),
        },
    )
    return Record("v1.KubeSchedulerConfiguration", {**_CONFIGURATION, "profiles": Field(Listing(profile))})


_CONFIGURATION = {
    **_TYPE_META,
    "parallelism": pointer(INT32),
    "leaderElection": always(_LEADER_ELECTION),
    "clientConnection": always(_CLIENT_CONNECTION),
    "enableProfiling": pointer(BOOL),
    "enableContentionProfiling": pointer(BOOL),
    "percentageOfNodesToScore": pointer(INT32),
    "podInitialBackoffSeconds": pointer(INT64),
    "podMaxBackoffSeconds": pointer(INT64),
    "extenders": Field(Listing(_EXTENDER)),
    "delayCacheUntilActive": Field(BOOL),
}

RESOURCES = Listing(Record("v1.ResourceSpec", {"name": always(STRING), "weight": Field(INT64)}))
UTILIZATION_SHAPE = Listing(
    Record("v1.UtilizationShapePoint", {"utilization": always(INT32), "score": always(INT32)}),
)
SELECTOR_REQUIREMENTS = Listing(
    Record(
        "v1.NodeSelectorRequirement",
        {"key": always(STRING), "operator": always(STRING), "values": Field(Listing(STRING))},
    )
)
"""Types that arguments of several plugins have."""
