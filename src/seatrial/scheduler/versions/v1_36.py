"""kube-scheduler v1.36: gates and dependents as `tools/versions gates 1.36.3` prints them."""

from seatrial.scheduler.versions.version import ImageVolumes, Rules, Version

GATES = {
    "off Alpha": """
APIServingWithRoutine AllAlpha AllowUnsafeMalformedObjectDeletion CBORServingAndStorage CPUManagerPolicyAlphaOptions
CRIListStreaming CSIVolumeHealth ClientsAllowCBOR ClientsPreferCBOR
CloudControllerManagerWatchBasedRoutesReconciliation CloudControllerManagerWebhook ContainerStopSignals
CrossNamespaceVolumeDataSource DRAListTypeAttributes DRANodeAllocatableResources DRAResourcePoolStatus
DRAWorkloadResourceClaims EventedPLEG GangScheduling GenericWorkload HPAScaleToZero ImageVolumeWithDigest
InPlacePodVerticalScalingExclusiveCPUs InPlacePodVerticalScalingExclusiveMemory KubeletInUserNamespace
LoggingAlphaOptions ManifestBasedAdmissionControlConfig MemoryQoS MutablePVNodeAffinity NativeHistograms
PersistentVolumeClaimUnusedSinceTime PodAndContainerStatsFromCRI PodLevelResourceManagers PodLogsQuerySplitStreams
PodsAPI QOSReserved ReduceDefaultCrashLoopBackOffDecay RuntimeClassInImageCriApi ShardedListAndWatch
StorageCapacityScoring StorageVersionAPI TaintTolerationComparisonOperators TopologyAwareWorkloadScheduling
TopologyManagerPolicyAlphaOptions UserNamespacesHostNetworkSupport VolumeLimitScaling WindowsCPUAndMemoryAffinity
WorkloadAwarePreemption WorkloadWithJob
    """,
    "off Beta": """
AllBeta ClusterTrustBundle ClusterTrustBundleProjection ConcurrentWatchObjectDecode CoordinatedLeaderElection
DRADeviceTaintRules LocalStorageCapacityIsolationFSQuotaMonitoring MaxUnavailableStatefulSet PodCertificateRequest
SELinuxMount SchedulerAsyncAPICalls StorageVersionMigrator
    """,
    "off Deprecated": """
AllowDNSOnlyNodeCSR AllowInsecureKubeletCertificateSigningRequests ChangeContainerStatusOnKubeletRestart
DeclarativeValidationTakeover KMSv1 KubeletRegistrationGetOnExistsOnly WindowsHostNetwork
    """,
    "off Deprecated locked": """
AllowOverwriteTerminationGracePeriodSeconds GitRepoVolumeDriver SeparateCacheWatchRPC
    """,
    "on Beta": """
APIResponseCompression APIServerIdentity AllowParsingUserUIDFromCertAuth AtomicFIFO
AuthorizePodWebsocketUpgradeCreatePermission CPUManagerPolicyBetaOptions CRDObservedGenerationTracking
ClearingNominatedNodeNameAfterBinding ClientsAllowCARotation ClientsAllowTLSCacheGC ComponentFlagz ComponentStatusz
ConstrainedImpersonation ContainerCheckpoint ContainerRestartRules ContextualLogging DRAConsumableCapacity
DRADeviceBindingConditions DRADeviceTaints DRAExtendedResource DRAPartitionableDevices DRAResourceClaimDeviceStatus
DRAResourceClaimGranularStatusAuthorization DRASchedulerFilterTimeout DeclarativeValidationBeta
DeploymentReplicaSetTerminatingReplicas DetectCacheInconsistency EnvFiles ExtendWebSocketsToKubelet
GracefulNodeShutdown GracefulNodeShutdownBasedOnPodPriority HPAConfigurableTolerance HostnameOverride
InOrderInformersBatchProcess InPlacePodLevelResourcesVerticalScaling InPlacePodVerticalScalingInitContainers
KubeletCrashLoopBackOffMax KubeletEnsureSecretPulledImages KubeletSeparateDiskGC
KubeletServiceAccountTokenForCredentialProviders ListFromCacheSnapshot LoggingBetaOptions
MatchLabelKeysInPodTopologySpread MatchLabelKeysInPodTopologySpreadSelectorMerge MutablePodResourcesForSuspendedJobs
MutableSchedulingDirectivesForSuspendedJobs NodeDeclaredFeatures NominatedNodeNameForExpectation OpenAPIEnums
OpportunisticBatching PLEGOnDemandRelist PodDeletionCost PodLevelResources PodReadyToStartContainersCondition
PodTopologyLabelsAdmission PortForwardWebsockets PreventStaticPodAPIReferences RelaxedServiceNameValidation
ReloadKubeletClientCAFile ReloadKubeletServerCertificateFile RemoteRequestHeaderUID ResourceHealthStatus
ResourceHealthStatusMessage RestartAllContainersOnContainerExits RotateKubeletServerCertificate
SchedulerAsyncPreemption SchedulerPopFromBackoffQ ServiceAccountNodeAudienceRestriction SizeBasedListCostEstimate
StaleControllerConsistencyDaemonSet StaleControllerConsistencyJob StaleControllerConsistencyReplicaSet
StaleControllerConsistencyStatefulSet StatefulSetSemanticRevisionComparison StorageVersionHash StrictIPCIDRValidation
StructuredAuthenticationConfigurationEgressSelector StructuredAuthenticationConfigurationJWKSMetrics
TokenRequestServiceAccountUIDValidation TopologyManagerPolicyBetaOptions TranslateStreamCloseWebsocketRequests
UnauthenticatedHTTP2DOSMitigation UnknownVersionInteroperabilityProxy UnlockWhileProcessingFIFO
WatchCacheInitializationPostStartHook WatchList WatchListClient WindowsGracefulNodeShutdown
    """,
    "on Deprecated": """
DisableCPUQuotaWithExclusiveCPUs KubeletPodResourcesListUseActivePods ServiceCIDRStatusFieldWiping
StorageNamespaceIndex
    """,
    "on Deprecated locked": """
AggregatedDiscoveryRemoveBetaType DisableNodeKubeProxyVersion
    """,
    "on GA": """
AllowServiceExternalIPs CustomCPUCFSQuotaPeriod DRAPrioritizedList InformerResourceVersion MutatingAdmissionPolicy
    """,
    "on GA locked": """
APIServerTracing AnonymousAuthConfigurableEndpoints AnyVolumeDataSource AuthorizeNodeWithSelectors
AuthorizeWithSelectors BtreeWatchCache CPUManagerPolicyOptions CRDValidationRatcheting CSIServiceAccountTokenSecrets
ConsistentListFromCache CustomResourceFieldSelectors DRAAdminAccess DeclarativeValidation DisableAllocatorDualWrite
DynamicResourceAllocation ExecProbeTimeout ExternalServiceAccountTokenSigner ImageMaximumGCAge ImageVolume
InOrderInformers InPlacePodVerticalScaling JobBackoffLimitPerIndex JobManagedBy JobPodReplacementPolicy
JobSuccessPolicy KubeletCgroupDriverFromCRI KubeletFineGrainedAuthz KubeletPSI KubeletPodResourcesDynamicResources
KubeletPodResourcesGet KubeletTracing LogarithmicScaleDown MatchLabelKeysInPodAffinity MultiCIDRServiceAllocator
MutableCSINodeAllocatableCount NFTablesProxyMode NodeInclusionPolicyInPodTopologySpread NodeLogQuery NodeSwap
OrderedNamespaceDeletion PodLifecycleSleepAction PodLifecycleSleepActionAllowZero PodObservedGenerationTracking
PodSchedulingReadiness PreferSameTrafficDistribution ProcMountType RecoverVolumeExpansionFailure
RecursiveReadOnlyMounts RelaxedDNSSearchValidation RelaxedEnvironmentVariableValidation
ResilientWatchCacheInitialization RetryGenerateName SELinuxChangePolicy SELinuxMountReadWriteOncePod
SchedulerQueueingHints SeparateTaintEvictionController ServiceAccountTokenJTI ServiceAccountTokenNodeBinding
ServiceAccountTokenNodeBindingValidation ServiceAccountTokenPodNodeInfo SidecarContainers
StreamingCollectionEncodingToJSON StreamingCollectionEncodingToProtobuf StructuredAuthenticationConfiguration
SupplementalGroupsPolicy SystemdWatchdog TopologyManagerPolicyOptions UserNamespacesSupport VolumeAttributesClass
WinDSR WinOverlay
    """,
}
DEPENDENTS = {
    "APIServerIdentity": "StorageVersionAPI UnknownVersionInteroperabilityProxy",
    "AtomicFIFO": """
StaleControllerConsistencyDaemonSet StaleControllerConsistencyJob StaleControllerConsistencyReplicaSet
StaleControllerConsistencyStatefulSet
    """,
    "AuthorizeNodeWithSelectors": "PodCertificateRequest",
    "AuthorizeWithSelectors": "AuthorizeNodeWithSelectors",
    "ClusterTrustBundle": "ClusterTrustBundleProjection",
    "ContainerRestartRules": "RestartAllContainersOnContainerExits",
    "DRADeviceTaints": "DRADeviceTaintRules",
    "DRAResourceClaimDeviceStatus": "DRADeviceBindingConditions DRAResourceClaimGranularStatusAuthorization",
    "DeclarativeValidation": "DeclarativeValidationTakeover",
    "DynamicResourceAllocation": """
DRAAdminAccess DRAConsumableCapacity DRADeviceBindingConditions DRADeviceTaints DRAExtendedResource
DRAListTypeAttributes DRANodeAllocatableResources DRAPartitionableDevices DRAPrioritizedList
DRAResourceClaimGranularStatusAuthorization DRAResourcePoolStatus DRASchedulerFilterTimeout
DRAWorkloadResourceClaims ResourceHealthStatus
    """,
    "GangScheduling": "WorkloadAwarePreemption",
    "GenericWorkload": "DRAWorkloadResourceClaims GangScheduling TopologyAwareWorkloadScheduling WorkloadWithJob",
    "GracefulNodeShutdown": "GracefulNodeShutdownBasedOnPodPriority WindowsGracefulNodeShutdown",
    "ImageVolume": "ImageVolumeWithDigest",
    "InPlacePodVerticalScaling": """
InPlacePodLevelResourcesVerticalScaling InPlacePodVerticalScalingExclusiveCPUs
InPlacePodVerticalScalingExclusiveMemory InPlacePodVerticalScalingInitContainers
    """,
    "MatchLabelKeysInPodTopologySpread": "MatchLabelKeysInPodTopologySpreadSelectorMerge",
    "MultiCIDRServiceAllocator": "DisableAllocatorDualWrite",
    "NodeDeclaredFeatures": """
ExtendWebSocketsToKubelet InPlacePodLevelResourcesVerticalScaling InPlacePodVerticalScalingInitContainers
RestartAllContainersOnContainerExits UserNamespacesHostNetworkSupport
    """,
    "PodLevelResources": "InPlacePodLevelResourcesVerticalScaling PodLevelResourceManagers",
    "PodLifecycleSleepAction": "PodLifecycleSleepActionAllowZero",
    "ResourceHealthStatus": "ResourceHealthStatusMessage",
    "ServiceAccountTokenNodeBindingValidation": "ServiceAccountTokenNodeBinding",
    "StructuredAuthenticationConfiguration": """
StructuredAuthenticationConfigurationEgressSelector StructuredAuthenticationConfigurationJWKSMetrics
    """,
    "UserNamespacesSupport": "ProcMountType UserNamespacesHostNetworkSupport",
}

VERSION = Version(
    minor="1.36",
    release="v1.36.3",
    gates_by_state=GATES,
    dependents=DEPENDENTS,
    not_yet=frozenset({"DRAFractionalCapacityRange"}),
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
    idle_points={
        "GangScheduling": ("preEnqueue", "permit"),
        "NodeResourcesFit": ("placementScore",),
        "PodGroupPodsCount": ("placementScore",),
        "TopologyPlacementGenerator": ("placementGenerate",),
    },
    group_points=("placementGenerate", "placementScore"),
    rules=Rules(
        hints_need_one_term=False,
        retries_on_taints=True,
        image_volumes=ImageVolumes.SUMMED,
        names_idle_post_filter=True,
        names_preemption=False,
        explains_cel_errors=False,
        all_means_full_devices_too=False,
        sums_before_maxima=False,
    ),
)
