"""kube-scheduler v1.35: gates and dependents as `tools/versions gates 1.35.4` prints them."""

from seatrial.scheduler.versions.version import ImageVolumes, Rules, Version

GATES = {
    "off Alpha": """
APIServingWithRoutine AllAlpha AllowUnsafeMalformedObjectDeletion CBORServingAndStorage CPUManagerPolicyAlphaOptions
CSIVolumeHealth ClientsAllowCBOR ClientsPreferCBOR CloudControllerManagerWatchBasedRoutesReconciliation
CloudControllerManagerWebhook ComponentFlagz ComponentStatusz ConstrainedImpersonation ContainerStopSignals
CrossNamespaceVolumeDataSource CustomCPUCFSQuotaPeriod DRAConsumableCapacity DRADeviceBindingConditions
DRADeviceTaintRules DRADeviceTaints DRAExtendedResource DRAPartitionableDevices EventedPLEG GangScheduling
GenericWorkload HPAScaleToZero InPlacePodLevelResourcesVerticalScaling InPlacePodVerticalScalingExclusiveCPUs
InPlacePodVerticalScalingExclusiveMemory InTreePluginPortworxUnregister KubeletInUserNamespace LoggingAlphaOptions
MemoryQoS MutablePVNodeAffinity MutablePodResourcesForSuspendedJobs MutableSchedulingDirectivesForSuspendedJobs
NodeDeclaredFeatures PodAndContainerStatsFromCRI PodLogsQuerySplitStreams QOSReserved
ReduceDefaultCrashLoopBackOffDecay RelaxedServiceNameValidation ResourceHealthStatus
RestartAllContainersOnContainerExits RuntimeClassInImageCriApi StorageCapacityScoring StorageVersionAPI
StrictIPCIDRValidation TaintTolerationComparisonOperators TopologyManagerPolicyAlphaOptions
UnknownVersionInteroperabilityProxy UserNamespacesHostNetworkSupport VolumeLimitScaling WindowsCPUAndMemoryAffinity
    """,
    "off Beta": """
AllBeta CRDObservedGenerationTracking ClusterTrustBundle ClusterTrustBundleProjection ConcurrentWatchObjectDecode
CoordinatedLeaderElection DeclarativeValidationTakeover LocalStorageCapacityIsolationFSQuotaMonitoring
MaxUnavailableStatefulSet MutatingAdmissionPolicy NodeLogQuery PodCertificateRequest SELinuxMount
SchedulerAsyncAPICalls StorageVersionMigrator WatchCacheInitializationPostStartHook
    """,
    "off Deprecated": """
AllowDNSOnlyNodeCSR AllowInsecureKubeletCertificateSigningRequests ChangeContainerStatusOnKubeletRestart
GitRepoVolumeDriver InPlacePodVerticalScalingAllocatedStatus KMSv1 KubeletRegistrationGetOnExistsOnly
SeparateCacheWatchRPC WindowsHostNetwork
    """,
    "off Deprecated locked": """
AllowOverwriteTerminationGracePeriodSeconds WatchFromStorageWithoutResourceVersion
    """,
    "on Beta": """
APIResponseCompression APIServerIdentity AllowParsingUserUIDFromCertAuth AuthorizePodWebsocketUpgradeCreatePermission
CPUManagerPolicyBetaOptions CSIServiceAccountTokenSecrets ClearingNominatedNodeNameAfterBinding ContainerCheckpoint
ContainerRestartRules ContextualLogging DRAAdminAccess DRAPrioritizedList DRAResourceClaimDeviceStatus
DRASchedulerFilterTimeout DeclarativeValidation DeploymentReplicaSetTerminatingReplicas DetectCacheInconsistency
DisableCPUQuotaWithExclusiveCPUs EnvFiles ExternalServiceAccountTokenSigner GracefulNodeShutdown
GracefulNodeShutdownBasedOnPodPriority HPAConfigurableTolerance HostnameOverride ImageVolume InOrderInformers
InOrderInformersBatchProcess KubeletCrashLoopBackOffMax KubeletEnsureSecretPulledImages KubeletFineGrainedAuthz
KubeletPSI KubeletPodResourcesDynamicResources KubeletPodResourcesGet KubeletSeparateDiskGC
KubeletServiceAccountTokenForCredentialProviders ListFromCacheSnapshot LoggingBetaOptions
MatchLabelKeysInPodTopologySpread MatchLabelKeysInPodTopologySpreadSelectorMerge MutableCSINodeAllocatableCount
NominatedNodeNameForExpectation OpenAPIEnums OpportunisticBatching PodDeletionCost PodLevelResources
PodReadyToStartContainersCondition PodTopologyLabelsAdmission PortForwardWebsockets PreventStaticPodAPIReferences
ProcMountType ReloadKubeletServerCertificateFile RemoteRequestHeaderUID RotateKubeletServerCertificate
SELinuxChangePolicy SELinuxMountReadWriteOncePod SchedulerAsyncPreemption SchedulerPopFromBackoffQ
ServiceAccountNodeAudienceRestriction SizeBasedListCostEstimate StatefulSetSemanticRevisionComparison
StorageVersionHash StructuredAuthenticationConfigurationEgressSelector
StructuredAuthenticationConfigurationJWKSMetrics TokenRequestServiceAccountUIDValidation
TopologyManagerPolicyBetaOptions TranslateStreamCloseWebsocketRequests UnauthenticatedHTTP2DOSMitigation
UserNamespacesSupport WatchList WatchListClient WindowsGracefulNodeShutdown
    """,
    "on Deprecated": """
DisableNodeKubeProxyVersion KubeletPodResourcesListUseActivePods StorageNamespaceIndex
    """,
    "on Deprecated locked": """
AggregatedDiscoveryRemoveBetaType
    """,
    "on GA": """
InformerResourceVersion TopologyManagerPolicyOptions VolumeAttributesClass
    """,
    "on GA locked": """
APIServerTracing AnonymousAuthConfigurableEndpoints AnyVolumeDataSource AuthorizeNodeWithSelectors
AuthorizeWithSelectors BtreeWatchCache CPUManagerPolicyOptions CRDValidationRatcheting CSIMigrationPortworx
ConsistentListFromCache CustomResourceFieldSelectors DisableAllocatorDualWrite DynamicResourceAllocation
ExecProbeTimeout HonorPVReclaimPolicy ImageMaximumGCAge InPlacePodVerticalScaling JobBackoffLimitPerIndex JobManagedBy
JobPodReplacementPolicy JobSuccessPolicy KubeletCgroupDriverFromCRI KubeletTracing LogarithmicScaleDown
MatchLabelKeysInPodAffinity MemoryManager MultiCIDRServiceAllocator NFTablesProxyMode
NodeInclusionPolicyInPodTopologySpread NodeSwap OrderedNamespaceDeletion PodLifecycleSleepAction
PodLifecycleSleepActionAllowZero PodObservedGenerationTracking PodSchedulingReadiness PreferSameTrafficDistribution
RecoverVolumeExpansionFailure RecursiveReadOnlyMounts RelaxedDNSSearchValidation RelaxedEnvironmentVariableValidation
ResilientWatchCacheInitialization RetryGenerateName SchedulerQueueingHints SeparateTaintEvictionController
ServiceAccountTokenJTI ServiceAccountTokenNodeBinding ServiceAccountTokenNodeBindingValidation
ServiceAccountTokenPodNodeInfo ServiceTrafficDistribution SidecarContainers StreamingCollectionEncodingToJSON
StreamingCollectionEncodingToProtobuf StructuredAuthenticationConfiguration StructuredAuthorizationConfiguration
SupplementalGroupsPolicy SystemdWatchdog TopologyAwareHints WinDSR WinOverlay
    """,
}
DEPENDENTS = {
    "APIServerIdentity": "StorageVersionAPI UnknownVersionInteroperabilityProxy",
    "AuthorizeNodeWithSelectors": "PodCertificateRequest",
    "AuthorizeWithSelectors": "AuthorizeNodeWithSelectors",
    "ClusterTrustBundle": "ClusterTrustBundleProjection",
    "ContainerRestartRules": "RestartAllContainersOnContainerExits",
    "DRADeviceTaints": "DRADeviceTaintRules",
    "DRAResourceClaimDeviceStatus": "DRADeviceBindingConditions",
    "DeclarativeValidation": "DeclarativeValidationTakeover",
    "DynamicResourceAllocation": """
DRAAdminAccess DRAConsumableCapacity DRADeviceBindingConditions DRADeviceTaints DRAExtendedResource
DRAPartitionableDevices DRAPrioritizedList DRASchedulerFilterTimeout ResourceHealthStatus
    """,
    "GenericWorkload": "GangScheduling",
    "GracefulNodeShutdown": "GracefulNodeShutdownBasedOnPodPriority WindowsGracefulNodeShutdown",
    "InPlacePodVerticalScaling": """
InPlacePodLevelResourcesVerticalScaling InPlacePodVerticalScalingAllocatedStatus
InPlacePodVerticalScalingExclusiveCPUs InPlacePodVerticalScalingExclusiveMemory
    """,
    "MatchLabelKeysInPodTopologySpread": "MatchLabelKeysInPodTopologySpreadSelectorMerge",
    "MemoryManager": "InPlacePodVerticalScalingExclusiveMemory WindowsCPUAndMemoryAffinity",
    "MultiCIDRServiceAllocator": "DisableAllocatorDualWrite",
    "NodeDeclaredFeatures": "InPlacePodLevelResourcesVerticalScaling RestartAllContainersOnContainerExits",
    "PodLevelResources": "InPlacePodLevelResourcesVerticalScaling",
    "PodLifecycleSleepAction": "PodLifecycleSleepActionAllowZero",
    "ServiceAccountTokenNodeBindingValidation": "ServiceAccountTokenNodeBinding",
    "StructuredAuthenticationConfiguration": """
StructuredAuthenticationConfigurationEgressSelector StructuredAuthenticationConfigurationJWKSMetrics
    """,
    "UserNamespacesSupport": "ProcMountType UserNamespacesHostNetworkSupport",
}

VERSION = Version(
    minor="1.35",
    release="v1.35.4",
    gates_by_state=GATES,
    dependents=DEPENDENTS,
    not_yet=frozenset({"DRAFractionalCapacityRange", "DRANodeAllocatableResources"}),
    plugins="""
        SchedulingGates PrioritySort NodeUnschedulable NodeName TaintToleration:3 NodeAffinity:2 NodePorts
        NodeResourcesFit:1 VolumeRestrictions NodeVolumeLimits VolumeBinding VolumeZone PodTopologySpread:2
        InterPodAffinity:2 DynamicResources:2 DefaultPreemption NodeResourcesBalancedAllocation:1 ImageLocality:1
        DefaultBinder NodeDeclaredFeatures
    """,
    gated_plugins={"DynamicResources": "DynamicResourceAllocation", "NodeDeclaredFeatures": "NodeDeclaredFeatures"},
    missing_points={
        "NodeName": frozenset({"preFilter"}),
        "NodeUnschedulable": frozenset({"preFilter"}),
        "TaintToleration": frozenset({"preFilter"}),
    },
    idle_points={"GangScheduling": ("preEnqueue", "reserve", "permit")},
    missing_kinds=(
        ("admissionregistration.k8s.io/v1", "MutatingAdmissionPolicy"),
        ("admissionregistration.k8s.io/v1", "MutatingAdmissionPolicyBinding"),
    ),
    rules=Rules(
        hints_see_both_sides=False,
        hints_need_one_term=False,
        retries_on_taints=True,
        balances_by_change=False,
        image_volumes=ImageVolumes.IGNORED,
        checks_ratio_by_type=False,
        names_score_weights=False,
        missing_drivers_opt_in=False,
        scores_allocated_claims=False,
        names_idle_post_filter=True,
        names_preemption=False,
        explains_cel_errors=False,
        all_means_full_devices_too=False,
        sums_before_maxima=False,
        relates_preemptors=True,
    ),
)
