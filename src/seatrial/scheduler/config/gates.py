"""Feature gates: what may be switched, given that the simulation follows v1.36.3 with its defaults.

Gates that are off by default are refused by name, but for TaintTolerationComparisonOperators. Gates that are on and
that the scheduler reads can be switched off where upstream allows it, but for those that concern single fields of
devices; OpportunisticBatching is left out here anyway. A gate that is locked, or that another one depends on, is
refused with upstream's text. Upstream: pkg/features/kube_features.go, component-base/featuregate/feature_gate.go.
"""

from collections.abc import Mapping

from seatrial.model.errors import ConfigError

COMPARISON_OPERATORS = "TaintTolerationComparisonOperators"

OFF_BY_DEFAULT = frozenset(
    [
        "APIServingWithRoutine",
        "AllAlpha",
        "AllBeta",
        "AllowDNSOnlyNodeCSR",
        "AllowInsecureKubeletCertificateSigningRequests",
        "AllowOverwriteTerminationGracePeriodSeconds",
        "AllowUnsafeMalformedObjectDeletion",
        "CBORServingAndStorage",
        "CPUManagerPolicyAlphaOptions",
        "CRIListStreaming",
        "CSIVolumeHealth",
        "ChangeContainerStatusOnKubeletRestart",
        "ClientsAllowCBOR",
        "ClientsPreferCBOR",
        "CloudControllerManagerWatchBasedRoutesReconciliation",
        "CloudControllerManagerWebhook",
        "ClusterTrustBundle",
        "ClusterTrustBundleProjection",
        "ConcurrentWatchObjectDecode",
        "ContainerStopSignals",
        "CoordinatedLeaderElection",
        "CrossNamespaceVolumeDataSource",
        "DRADeviceTaintRules",
        "DRAListTypeAttributes",
        "DRANodeAllocatableResources",
        "DRAResourcePoolStatus",
        "DRAWorkloadResourceClaims",
        "DeclarativeValidationTakeover",
        "EventedPLEG",
        "GangScheduling",
        "GenericWorkload",
        "GitRepoVolumeDriver",
        "HPAScaleToZero",
        "ImageVolumeWithDigest",
        "InPlacePodVerticalScalingExclusiveCPUs",
        "InPlacePodVerticalScalingExclusiveMemory",
        "KMSv1",
        "KubeletInUserNamespace",
        "KubeletRegistrationGetOnExistsOnly",
        "LocalStorageCapacityIsolationFSQuotaMonitoring",
        "ManifestBasedAdmissionControlConfig",
        "MaxUnavailableStatefulSet",
        "MemoryQoS",
        "MutablePVNodeAffinity",
        "PersistentVolumeClaimUnusedSinceTime",
        "PodAndContainerStatsFromCRI",
        "PodCertificateRequest",
        "PodLevelResourceManagers",
        "PodLogsQuerySplitStreams",
        "PodsAPI",
        "QOSReserved",
        "ReduceDefaultCrashLoopBackOffDecay",
        "RuntimeClassInImageCriApi",
        "SELinuxMount",
        "SchedulerAsyncAPICalls",
        "SeparateCacheWatchRPC",
        "ShardedListAndWatch",
        "StorageCapacityScoring",
        "StorageVersionAPI",
        "StorageVersionMigrator",
        "TaintTolerationComparisonOperators",
        "TopologyAwareWorkloadScheduling",
        "TopologyManagerPolicyAlphaOptions",
        "UserNamespacesHostNetworkSupport",
        "VolumeLimitScaling",
        "WindowsCPUAndMemoryAffinity",
        "WindowsHostNetwork",
        "WorkloadAwarePreemption",
        "WorkloadWithJob",
    ]
)
ON_BY_DEFAULT = frozenset(
    [
        "APIResponseCompression",
        "APIServerIdentity",
        "APIServerTracing",
        "AggregatedDiscoveryRemoveBetaType",
        "AllowParsingUserUIDFromCertAuth",
        "AllowServiceExternalIPs",
        "AnonymousAuthConfigurableEndpoints",
        "AnyVolumeDataSource",
        "AtomicFIFO",
        "AuthorizeNodeWithSelectors",
        "AuthorizePodWebsocketUpgradeCreatePermission",
        "AuthorizeWithSelectors",
        "BtreeWatchCache",
        "CPUManagerPolicyBetaOptions",
        "CPUManagerPolicyOptions",
        "CRDObservedGenerationTracking",
        "CRDValidationRatcheting",
        "CSIServiceAccountTokenSecrets",
        "ClearingNominatedNodeNameAfterBinding",
        "ClientsAllowCARotation",
        "ClientsAllowTLSCacheGC",
        "ComponentFlagz",
        "ComponentStatusz",
        "ConsistentListFromCache",
        "ConstrainedImpersonation",
        "ContainerCheckpoint",
        "ContainerRestartRules",
        "CustomCPUCFSQuotaPeriod",
        "CustomResourceFieldSelectors",
        "DRAAdminAccess",
        "DRAConsumableCapacity",
        "DRADeviceBindingConditions",
        "DRADeviceTaints",
        "DRAExtendedResource",
        "DRAPartitionableDevices",
        "DRAPrioritizedList",
        "DRAResourceClaimDeviceStatus",
        "DRAResourceClaimGranularStatusAuthorization",
        "DRASchedulerFilterTimeout",
        "DeclarativeValidation",
        "DeclarativeValidationBeta",
        "DeploymentReplicaSetTerminatingReplicas",
        "DetectCacheInconsistency",
        "DisableAllocatorDualWrite",
        "DisableCPUQuotaWithExclusiveCPUs",
        "DisableNodeKubeProxyVersion",
        "DynamicResourceAllocation",
        "EnvFiles",
        "ExecProbeTimeout",
        "ExtendWebSocketsToKubelet",
        "ExternalServiceAccountTokenSigner",
        "GracefulNodeShutdown",
        "GracefulNodeShutdownBasedOnPodPriority",
        "HPAConfigurableTolerance",
        "HostnameOverride",
        "ImageMaximumGCAge",
        "ImageVolume",
        "InOrderInformers",
        "InOrderInformersBatchProcess",
        "InPlacePodLevelResourcesVerticalScaling",
        "InPlacePodVerticalScaling",
        "InPlacePodVerticalScalingInitContainers",
        "InformerResourceVersion",
        "JobBackoffLimitPerIndex",
        "JobManagedBy",
        "JobPodReplacementPolicy",
        "JobSuccessPolicy",
        "KubeletCgroupDriverFromCRI",
        "KubeletCrashLoopBackOffMax",
        "KubeletEnsureSecretPulledImages",
        "KubeletFineGrainedAuthz",
        "KubeletPSI",
        "KubeletPodResourcesDynamicResources",
        "KubeletPodResourcesGet",
        "KubeletPodResourcesListUseActivePods",
        "KubeletSeparateDiskGC",
        "KubeletServiceAccountTokenForCredentialProviders",
        "KubeletTracing",
        "ListFromCacheSnapshot",
        "LogarithmicScaleDown",
        "MatchLabelKeysInPodAffinity",
        "MatchLabelKeysInPodTopologySpread",
        "MatchLabelKeysInPodTopologySpreadSelectorMerge",
        "MultiCIDRServiceAllocator",
        "MutableCSINodeAllocatableCount",
        "MutablePodResourcesForSuspendedJobs",
        "MutableSchedulingDirectivesForSuspendedJobs",
        "MutatingAdmissionPolicy",
        "NFTablesProxyMode",
        "NodeDeclaredFeatures",
        "NodeInclusionPolicyInPodTopologySpread",
        "NodeLogQuery",
        "NodeSwap",
        "NominatedNodeNameForExpectation",
        "OpenAPIEnums",
        "OpportunisticBatching",
        "OrderedNamespaceDeletion",
        "PLEGOnDemandRelist",
        "PodDeletionCost",
        "PodLevelResources",
        "PodLifecycleSleepAction",
        "PodLifecycleSleepActionAllowZero",
        "PodObservedGenerationTracking",
        "PodReadyToStartContainersCondition",
        "PodSchedulingReadiness",
        "PodTopologyLabelsAdmission",
        "PortForwardWebsockets",
        "PreferSameTrafficDistribution",
        "PreventStaticPodAPIReferences",
        "ProcMountType",
        "RecoverVolumeExpansionFailure",
        "RecursiveReadOnlyMounts",
        "RelaxedDNSSearchValidation",
        "RelaxedEnvironmentVariableValidation",
        "RelaxedServiceNameValidation",
        "ReloadKubeletClientCAFile",
        "ReloadKubeletServerCertificateFile",
        "RemoteRequestHeaderUID",
        "ResilientWatchCacheInitialization",
        "ResourceHealthStatus",
        "ResourceHealthStatusMessage",
        "RestartAllContainersOnContainerExits",
        "RetryGenerateName",
        "RotateKubeletServerCertificate",
        "SELinuxChangePolicy",
        "SELinuxMountReadWriteOncePod",
        "SchedulerAsyncPreemption",
        "SchedulerPopFromBackoffQ",
        "SchedulerQueueingHints",
        "SeparateTaintEvictionController",
        "ServiceAccountNodeAudienceRestriction",
        "ServiceAccountTokenJTI",
        "ServiceAccountTokenNodeBinding",
        "ServiceAccountTokenNodeBindingValidation",
        "ServiceAccountTokenPodNodeInfo",
        "ServiceCIDRStatusFieldWiping",
        "SidecarContainers",
        "SizeBasedListCostEstimate",
        "StaleControllerConsistencyDaemonSet",
        "StaleControllerConsistencyJob",
        "StaleControllerConsistencyReplicaSet",
        "StaleControllerConsistencyStatefulSet",
        "StatefulSetSemanticRevisionComparison",
        "StorageNamespaceIndex",
        "StorageVersionHash",
        "StreamingCollectionEncodingToJSON",
        "StreamingCollectionEncodingToProtobuf",
        "StrictIPCIDRValidation",
        "StructuredAuthenticationConfiguration",
        "StructuredAuthenticationConfigurationEgressSelector",
        "StructuredAuthenticationConfigurationJWKSMetrics",
        "SupplementalGroupsPolicy",
        "SystemdWatchdog",
        "TokenRequestServiceAccountUIDValidation",
        "TopologyManagerPolicyBetaOptions",
        "TopologyManagerPolicyOptions",
        "TranslateStreamCloseWebsocketRequests",
        "UnauthenticatedHTTP2DOSMitigation",
        "UnknownVersionInteroperabilityProxy",
        "UnlockWhileProcessingFIFO",
        "UserNamespacesSupport",
        "VolumeAttributesClass",
        "WatchCacheInitializationPostStartHook",
        "WatchList",
        "WatchListClient",
        "WinDSR",
        "WinOverlay",
        "WindowsGracefulNodeShutdown",
    ]
)
LOCKED = frozenset(
    [
        "DRAAdminAccess",
        "DynamicResourceAllocation",
        "InPlacePodVerticalScaling",
        "MatchLabelKeysInPodAffinity",
        "NodeInclusionPolicyInPodTopologySpread",
        "PodSchedulingReadiness",
        "SchedulerQueueingHints",
        "SidecarContainers",
        "VolumeAttributesClass",
    ]
)
"""Gates that the scheduler reads and that can no longer be switched off in v1.36."""
SWITCHABLE = frozenset(
    [
        "DRADeviceBindingConditions",
        "DRADeviceTaints",
        "DRAExtendedResource",
        "DRAPrioritizedList",
        "MatchLabelKeysInPodTopologySpread",
        "NodeDeclaredFeatures",
        "NominatedNodeNameForExpectation",
        "PodLevelResources",
        "SchedulerAsyncPreemption",
        "SchedulerPopFromBackoffQ",
    ]
)
"""Gates that the scheduler reads and that can be switched off here."""
_ALWAYS_ON = frozenset(
    [
        "DRAConsumableCapacity",
        "DRAPartitionableDevices",
        "DRAResourceClaimDeviceStatus",
        "DRASchedulerFilterTimeout",
        "InPlacePodLevelResourcesVerticalScaling",
    ]
)
_DEPENDENTS = {
    "MatchLabelKeysInPodTopologySpread": ("MatchLabelKeysInPodTopologySpreadSelectorMerge",),
    "NodeDeclaredFeatures": (
        "ExtendWebSocketsToKubelet",
        "InPlacePodLevelResourcesVerticalScaling",
        "InPlacePodVerticalScalingInitContainers",
        "RestartAllContainersOnContainerExits",
    ),
    "PodLevelResources": ("InPlacePodLevelResourcesVerticalScaling",),
}
"""By gate: the gates that are on by default and depend on it."""


def enabled_gates(wanted: Mapping[str, bool] | None) -> frozenset[str]:
    """The gates switched on beyond the defaults; ConfigError names one that cannot be had."""
    for name, on in (wanted or {}).items():
        problem = _problem(name, on, wanted or {})
        if problem:
            raise ConfigError("", "featureGates", problem)
    return frozenset(name for name, on in (wanted or {}).items() if on and name in OFF_BY_DEFAULT)


def disabled_gates(wanted: Mapping[str, bool] | None) -> frozenset[str]:
    """The gates switched off that are on by default and that the scheduler reads."""
    return frozenset(name for name, on in (wanted or {}).items() if not on and name in SWITCHABLE)


def _problem(name: str, on: bool, wanted: Mapping[str, bool]) -> str:
    """Why a gate cannot be switched; empty where it can."""
    if name not in OFF_BY_DEFAULT and name not in ON_BY_DEFAULT:
        return f"unrecognized feature gate: {name}"
    if on:
        is_refused = name in OFF_BY_DEFAULT and name != COMPARISON_OPERATORS
        return f"{name} is off by default in 1.36 and is not simulated" if is_refused else ""
    if name in LOCKED:
        return f"cannot set feature gate {name} to false, feature is locked to true"
    if name in _ALWAYS_ON and not _is_dependent(name, wanted):
        return f"{name} is on by default in 1.36 and cannot be switched off"
    left = [f"{other} is enabled, but depends on features that are disabled: [{name}]"
            for other in _DEPENDENTS.get(name, ()) if wanted.get(other, True)]  # fmt: skip
    return left[0] if len(left) == 1 else f"[{', '.join(left)}]" if left else ""


def _is_dependent(name: str, wanted: Mapping[str, bool]) -> bool:
    """Whether a gate goes off together with one that it depends on."""
    return any(name in others and not wanted.get(gate, True) for gate, others in _DEPENDENTS.items())
