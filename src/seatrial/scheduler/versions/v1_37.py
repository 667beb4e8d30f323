"""kube-scheduler v1.37: gates and dependents as `tools/versions gates 1.37.1` prints them."""

from seatrial.scheduler.versions.version import Version

GATES = {
    "off Alpha": """
APIServerWebhookAuthenticationToken APIServingWithRoutine AllAlpha AtomicWriteVolumeUserFields CBORServingAndStorage
CPUManagerPolicyAlphaOptions CRIListStreaming CSIVolumeHealth ClientsAllowCBOR ClientsPreferCBOR
CloudControllerManagerWatchBasedRoutesReconciliation CloudControllerManagerWebhook CompositePodGroup
ConsistentListFromCacheSkipTimeoutFallback ContainerStopSignals CrossNamespaceVolumeDataSource DRADerivedAttributes
DRADeviceCompatibilityGroups DRAListTypeAttributes DRANodeAllocatableResources DRAOptionalNodeOperations
DRAPartitionableDevicesType DRAResourcePoolStatus DefaultPodSysctls EmptyDirVolumeMode EventedPLEG EvictionRequestAPI
GRPCContainerProbeTLS H2CContainerProbe ImageVolumeWithDigest InPlacePodVerticalScalingExclusiveCPUs
InPlacePodVerticalScalingExclusiveMemory InPlacePodVerticalScalingMemoryBackedVolumes
InPlacePodVerticalScalingSchedulerPreemption InterPodAffinityHostnameFastPath KubeProxyNFTablesLocalhostNodePorts
KubeletAllocatedPodsEndpoint LoggingAlphaOptions MutablePVNodeAffinity NodeLifecycleConditions
PodGroupPreemptionPolicy PodLogsQuerySplitStreams QOSReserved ReduceDefaultCrashLoopBackOffDecay
RuntimeClassInImageCriApi SchedulerPreQueueingHints ShardedListAndWatch StatefulSetRecreateStrategy StorageVersionAPI
TaintTolerationComparisonOperators TopologyAwareWorkloadScheduling TopologyManagerPolicyAlphaOptions
UserNamespacesHostNetworkSupport VolumeBindMountOptions WindowsCPUAndMemoryAffinity WorkloadWithJob
    """,
    "off Beta": """
AllBeta CoordinatedLeaderElection DRAFractionalCapacityRange DRAWorkloadResourceClaims GenericWorkload
LocalStorageCapacityIsolationFSQuotaMonitoring PodAndContainerStatsFromCRI PodLevelResourceManagers
SchedulerAsyncAPICalls
    """,
    "off Deprecated": """
AllowDNSOnlyNodeCSR AllowInsecureKubeletCertificateSigningRequests ChangeContainerStatusOnKubeletRestart KMSv1
KubeletRegistrationGetOnExistsOnly WindowsHostNetwork
    """,
    "off Deprecated locked": """
AllowOverwriteTerminationGracePeriodSeconds DeclarativeValidationTakeover GitRepoVolumeDriver SeparateCacheWatchRPC
    """,
    "on Beta": """
APIResponseCompression APIServerIdentity AllowParsingUserUIDFromCertAuth AllowUnsafeMalformedObjectDeletion AtomicFIFO
AuthorizePodWebsocketUpgradeCreatePermission CPUManagerPolicyBetaOptions CRDObservedGenerationTracking
ClearingNominatedNodeNameAfterBinding ClientsAllowCARotation ClientsAllowTLSCacheGC ComponentFlagz ComponentStatusz
ConcurrentWatchObjectDecode ConstrainedImpersonation ContainerCheckpoint ContainerRestartRules ContextualLogging
DRAConsumableCapacity DRADeviceBindingConditions DRAPartitionableDevices DRAResourceClaimGranularStatusAuthorization
DRASchedulerFilterTimeout DeclarativeValidationBeta DeploymentReplicaSetTerminatingReplicas DetectCacheInconsistency
EnvFiles EtcdRangeStream ExcludeAdmissionWebhookVirtualResources ExtendWebSocketsToKubelet GracefulNodeShutdown
GracefulNodeShutdownBasedOnPodPriority HPAGeneration HPAOptimizedSelectorStore HPAScaleToZero HugepageAwareEviction
InOrderInformersBatchProcess InPlacePodLevelResourcesVerticalScaling KubeletCrashLoopBackOffMax
KubeletEnsureSecretPulledImages KubeletInUserNamespace KubeletSeparateDiskGC
KubeletServiceAccountTokenForCredentialProviders ListFromCacheSnapshot LoggingBetaOptions
ManifestBasedAdmissionControlConfig MatchLabelKeysInPodTopologySpread MatchLabelKeysInPodTopologySpreadSelectorMerge
MaxUnavailableStatefulSet MemoryQoS MutablePodResourcesForSuspendedJobs MutableSchedulingDirectivesForSuspendedJobs
NFTablesNetlink NativeHistograms NodeControllerLeaseCircuitBreaker NominatedNodeNameForExpectation OpenAPIEnums
OpportunisticBatching PersistentVolumeClaimUnusedSinceTime PodDeletionCost PodLevelResources
PodLevelResourcesFixDefaulting PodLevelResourcesFixKubeletQOSClass PodTopologyLabelsAdmission PodsAPI
PortForwardWebsockets ReloadKubeletClientCAFile ReloadKubeletServerCertificateFile RemoteRequestHeaderUID
ResourceHealthStatus ResourceHealthStatusMessage RestartAllContainersOnContainerExits RotateKubeletServerCertificate
SchedulerAsyncPreemption SchedulerPopFromBackoffQ ServiceAccountNodeAudienceRestriction SizeBasedListCostEstimate
StaleControllerConsistencyDaemonSet StaleControllerConsistencyHPA StaleControllerConsistencyJob
StaleControllerConsistencyReplicaSet StaleControllerConsistencyStatefulSet StatefulSetSemanticRevisionComparison
StorageCapacityScoring StorageVersionHash StrictIPCIDRValidation StructuredAuthenticationConfigurationEgressSelector
StructuredAuthenticationConfigurationJWKSMetrics TokenRequestServiceAccountUIDValidation
TopologyManagerPolicyBetaOptions TranslateStreamCloseWebsocketRequests UnauthenticatedHTTP2DOSMitigation
UnknownVersionInteroperabilityProxy UnlockWhileProcessingFIFO VolumeLimitScaling WatchList WatchListClient
WatchListCompression WebhookRoundTripLoadBalancing WindowsGracefulNodeShutdown
    """,
    "on Deprecated": """
KubeProxyIPVS KubeletPodResourcesListUseActivePods ServiceCIDRStatusFieldWiping StorageNamespaceIndex
    """,
    "on Deprecated locked": """
AggregatedDiscoveryRemoveBetaType DisableCPUQuotaWithExclusiveCPUs DisableNodeKubeProxyVersion
    """,
    "on GA": """
AllowServiceExternalIPs ClusterTrustBundle ClusterTrustBundleProjection CustomCPUCFSQuotaPeriod DRADeviceTaintRules
DRADeviceTaints InformerResourceVersion MutatingAdmissionPolicy PodCertificateRequest SELinuxMount
StorageVersionMigrator
    """,
    "on GA locked": """
CPUManagerPolicyOptions CRDValidationRatcheting CSIServiceAccountTokenSecrets CustomResourceFieldSelectors
DRAAdminAccess DRAExtendedResource DRAPrioritizedList DRAResourceClaimDeviceStatus DeclarativeValidation
DisableAllocatorDualWrite DynamicResourceAllocation ExecProbeTimeout ExternalServiceAccountTokenSigner
HPAConfigurableTolerance HostnameOverride ImageMaximumGCAge ImageVolume InOrderInformers InPlacePodVerticalScaling
InPlacePodVerticalScalingInitContainers JobManagedBy KubeletCgroupDriverFromCRI KubeletFineGrainedAuthz KubeletPSI
KubeletPodResourcesDynamicResources KubeletPodResourcesGet KubeletTracing MatchLabelKeysInPodAffinity
MultiCIDRServiceAllocator MutableCSINodeAllocatableCount NFTablesProxyMode NodeDeclaredFeatures
NodeInclusionPolicyInPodTopologySpread NodeLogQuery NodeSwap PLEGOnDemandRelist PodObservedGenerationTracking
PodReadyToStartContainersCondition PodSchedulingReadiness PreferSameTrafficDistribution ProcMountType
RecoverVolumeExpansionFailure RecursiveReadOnlyMounts RelaxedEnvironmentVariableValidation
RelaxedServiceNameValidation SELinuxChangePolicy SELinuxMountReadWriteOncePod SeparateTaintEvictionController
ServiceAccountTokenJTI ServiceAccountTokenNodeBinding ServiceAccountTokenNodeBindingValidation
ServiceAccountTokenPodNodeInfo SupplementalGroupsPolicy SystemdWatchdog TopologyManagerPolicyOptions
UserNamespacesSupport VolumeAttributesClass WatchCacheInitializationPostStartHook WinDSR WinOverlay
    """,
}
DEPENDENTS = {
    "APIServerIdentity": "StorageVersionAPI UnknownVersionInteroperabilityProxy",
    "AtomicFIFO": """
NodeControllerLeaseCircuitBreaker StaleControllerConsistencyDaemonSet StaleControllerConsistencyHPA
StaleControllerConsistencyJob StaleControllerConsistencyReplicaSet StaleControllerConsistencyStatefulSet
    """,
    "ClusterTrustBundle": "ClusterTrustBundleProjection",
    "ContainerRestartRules": "RestartAllContainersOnContainerExits",
    "DRAConsumableCapacity": "DRAFractionalCapacityRange",
    "DRADeviceTaints": "DRADeviceTaintRules",
    "DRAPartitionableDevices": "DRADeviceCompatibilityGroups DRAPartitionableDevicesType",
    "DRAResourceClaimDeviceStatus": "DRADeviceBindingConditions DRAResourceClaimGranularStatusAuthorization",
    "DRAResourcePoolStatus": "DRAPartitionableDevicesType",
    "DeclarativeValidation": "DeclarativeValidationTakeover",
    "DynamicResourceAllocation": """
DRAAdminAccess DRAConsumableCapacity DRADerivedAttributes DRADeviceBindingConditions DRADeviceCompatibilityGroups
DRADeviceTaints DRAExtendedResource DRAListTypeAttributes DRANodeAllocatableResources DRAOptionalNodeOperations
DRAPartitionableDevices DRAPartitionableDevicesType DRAPrioritizedList DRAResourceClaimGranularStatusAuthorization
DRAResourcePoolStatus DRASchedulerFilterTimeout DRAWorkloadResourceClaims ResourceHealthStatus
    """,
    "GenericWorkload": """
CompositePodGroup DRAWorkloadResourceClaims PodGroupPreemptionPolicy TopologyAwareWorkloadScheduling WorkloadWithJob
    """,
    "GracefulNodeShutdown": "GracefulNodeShutdownBasedOnPodPriority WindowsGracefulNodeShutdown",
    "ImageVolume": "ImageVolumeWithDigest",
    "InPlacePodVerticalScaling": """
InPlacePodLevelResourcesVerticalScaling InPlacePodVerticalScalingExclusiveCPUs
InPlacePodVerticalScalingExclusiveMemory InPlacePodVerticalScalingInitContainers
InPlacePodVerticalScalingMemoryBackedVolumes InPlacePodVerticalScalingSchedulerPreemption
KubeletAllocatedPodsEndpoint
    """,
    "MatchLabelKeysInPodTopologySpread": "MatchLabelKeysInPodTopologySpreadSelectorMerge",
    "MultiCIDRServiceAllocator": "DisableAllocatorDualWrite",
    "NodeDeclaredFeatures": """
DRAOptionalNodeOperations ExtendWebSocketsToKubelet H2CContainerProbe InPlacePodLevelResourcesVerticalScaling
InPlacePodVerticalScalingInitContainers InPlacePodVerticalScalingMemoryBackedVolumes
RestartAllContainersOnContainerExits UserNamespacesHostNetworkSupport
    """,
    "PLEGOnDemandRelist": "EventedPLEG",
    "PodLevelResources": """
InPlacePodLevelResourcesVerticalScaling PodLevelResourceManagers PodLevelResourcesFixDefaulting
PodLevelResourcesFixKubeletQOSClass
    """,
    "ResourceHealthStatus": "ResourceHealthStatusMessage",
    "ServiceAccountTokenNodeBindingValidation": "ServiceAccountTokenNodeBinding",
    "TopologyAwareWorkloadScheduling": "CompositePodGroup",
    "UserNamespacesSupport": "ProcMountType UserNamespacesHostNetworkSupport",
}

VERSION = Version(
    minor="1.37",
    release="v1.37.1",
    gates_by_state=GATES,
    dependents=DEPENDENTS,
    plugins="""
        SchedulingGates PrioritySort NodeName NodeUnschedulable TaintToleration:3 NodeAffinity:2 NodePorts
        NodeResourcesFit:1 VolumeRestrictions NodeVolumeLimits VolumeBinding VolumeZone PodTopologySpread:2
        InterPodAffinity:2 DynamicResources:2 DefaultPreemption NodeResourcesBalancedAllocation:1 ImageLocality:1
        DefaultBinder NodeDeclaredFeatures
    """,
    gated_plugins={"DynamicResources": "DynamicResourceAllocation", "NodeDeclaredFeatures": "NodeDeclaredFeatures"},
    idle_points={
        "DefaultPreemption": ("podGroupPostFilter",),
        "DeferredPodScheduling": ("preFilter", "filter", "permit"),
        "DynamicResources": ("podGroupPostFilter",),
        "GangScheduling": ("preEnqueue", "permit"),
        "NodeResourcesFit": ("placementScore",),
        "PodGroupPodsCount": ("placementScore",),
        "TopologyPlacementGenerator": ("placementGenerate",),
    },
    group_points=("placementGenerate", "placementScore", "podGroupPostFilter"),
    added_kinds=(
        ("certificates.k8s.io/v1", "ClusterTrustBundle"),
        ("certificates.k8s.io/v1", "PodCertificateRequest"),
        ("resource.k8s.io/v1", "DeviceTaintRule"),
        ("storagemigration.k8s.io/v1", "StorageVersionMigration"),
    ),
)
