"""kube-scheduler v1.34: gates and dependents as `tools/versions gates 1.34.4` prints them."""

from seatrial.scheduler.versions.version import ImageVolumes, Rules, Version

GATES = {
    "off Alpha": """
APIServingWithRoutine AllAlpha AllowUnsafeMalformedObjectDeletion CBORServingAndStorage CPUManagerPolicyAlphaOptions
CSIVolumeHealth ClearingNominatedNodeNameAfterBinding ClientsAllowCBOR ClientsPreferCBOR
CloudControllerManagerWebhook ComponentFlagz ComponentStatusz
ContainerRestartRules ContainerStopSignals CrossNamespaceVolumeDataSource CustomCPUCFSQuotaPeriod
DRAConsumableCapacity DRADeviceBindingConditions DRADeviceTaints DRAExtendedResource DRAPartitionableDevices
DeploymentReplicaSetTerminatingReplicas EnvFiles EventedPLEG HPAConfigurableTolerance HPAScaleToZero HostnameOverride
InPlacePodVerticalScalingExclusiveCPUs InPlacePodVerticalScalingExclusiveMemory InTreePluginPortworxUnregister
InformerResourceVersion
KubeletCrashLoopBackOffMax KubeletEnsureSecretPulledImages KubeletInUserNamespace LoggingAlphaOptions
MaxUnavailableStatefulSet MemoryQoS NominatedNodeNameForExpectation PodAndContainerStatsFromCRI PodCertificateRequest
PodLogsQuerySplitStreams PodTopologyLabelsAdmission QOSReserved ReduceDefaultCrashLoopBackOffDecay
RelaxedServiceNameValidation ResourceHealthStatus RuntimeClassInImageCriApi StorageCapacityScoring StorageVersionAPI
StorageVersionMigrator StrictIPCIDRValidation TopologyManagerPolicyAlphaOptions UnknownVersionInteroperabilityProxy
UserNamespacesPodSecurityStandards WindowsCPUAndMemoryAffinity
    """,
    "off Beta": """
AllBeta ClusterTrustBundle ClusterTrustBundleProjection ConcurrentWatchObjectDecode CoordinatedLeaderElection
DeclarativeValidationTakeover ImageVolume LocalStorageCapacityIsolationFSQuotaMonitoring
MutableCSINodeAllocatableCount MutatingAdmissionPolicy NodeLogQuery SELinuxMount SchedulerAsyncAPICalls
WatchCacheInitializationPostStartHook WatchListClient
    """,
    "off Deprecated": """
AllowDNSOnlyNodeCSR AllowInsecureKubeletCertificateSigningRequests AllowOverwriteTerminationGracePeriodSeconds
GitRepoVolumeDriver InPlacePodVerticalScalingAllocatedStatus KMSv1 KubeletRegistrationGetOnExistsOnly
SeparateCacheWatchRPC WindowsHostNetwork
    """,
    "off Deprecated locked": """
AllowServiceLBStatusOnNonLB WatchFromStorageWithoutResourceVersion
    """,
    "on Beta": """
APIResponseCompression APIServerIdentity AllowParsingUserUIDFromCertAuth CPUManagerPolicyBetaOptions
ContainerCheckpoint ContextualLogging DRAAdminAccess DRAPrioritizedList DRAResourceClaimDeviceStatus
DRASchedulerFilterTimeout DeclarativeValidation DetectCacheInconsistency DisableCPUQuotaWithExclusiveCPUs
ExternalServiceAccountTokenSigner GracefulNodeShutdown GracefulNodeShutdownBasedOnPodPriority ImageMaximumGCAge
InOrderInformers InPlacePodVerticalScaling JobManagedBy KubeletFineGrainedAuthz KubeletPSI
KubeletPodResourcesDynamicResources
KubeletPodResourcesGet KubeletSeparateDiskGC KubeletServiceAccountTokenForCredentialProviders ListFromCacheSnapshot
LoggingBetaOptions MatchLabelKeysInPodTopologySpread MatchLabelKeysInPodTopologySpreadSelectorMerge OpenAPIEnums
PodDeletionCost PodLevelResources PodObservedGenerationTracking PodReadyToStartContainersCondition
PortForwardWebsockets PreferSameTrafficDistribution PreventStaticPodAPIReferences ProcMountType
ReloadKubeletServerCertificateFile RemoteRequestHeaderUID RotateKubeletServerCertificate SELinuxChangePolicy
SELinuxMountReadWriteOncePod SchedulerAsyncPreemption SchedulerPopFromBackoffQ ServiceAccountNodeAudienceRestriction
SizeBasedListCostEstimate StatefulSetSemanticRevisionComparison StorageVersionHash
StructuredAuthenticationConfigurationEgressSelector SupplementalGroupsPolicy SystemdWatchdog
TokenRequestServiceAccountUIDValidation TopologyManagerPolicyBetaOptions TranslateStreamCloseWebsocketRequests
UnauthenticatedHTTP2DOSMitigation UserNamespacesSupport WatchList WindowsGracefulNodeShutdown
    """,
    "on Deprecated": """
AggregatedDiscoveryRemoveBetaType DisableNodeKubeProxyVersion KubeletPodResourcesListUseActivePods
StorageNamespaceIndex
    """,
    "on GA": """
DisableAllocatorDualWrite DynamicResourceAllocation ExecProbeTimeout TopologyManagerPolicyOptions
VolumeAttributesClass
    """,
    "on GA locked": """
APIServerTracing AnonymousAuthConfigurableEndpoints AnyVolumeDataSource AuthorizeNodeWithSelectors
AuthorizeWithSelectors BtreeWatchCache CPUManagerPolicyOptions CRDValidationRatcheting CSIMigrationPortworx
ComponentSLIs ConsistentListFromCache CronJobsScheduledAnnotation CustomResourceFieldSelectors HonorPVReclaimPolicy
JobBackoffLimitPerIndex JobPodReplacementPolicy JobSuccessPolicy KubeletCgroupDriverFromCRI KubeletTracing
LoadBalancerIPMode LogarithmicScaleDown MatchLabelKeysInPodAffinity MemoryManager MultiCIDRServiceAllocator
NFTablesProxyMode NodeInclusionPolicyInPodTopologySpread NodeSwap OrderedNamespaceDeletion PodIndexLabel
PodLifecycleSleepAction PodLifecycleSleepActionAllowZero PodSchedulingReadiness ProbeHostPodSecurityStandards
RecoverVolumeExpansionFailure RecursiveReadOnlyMounts RelaxedDNSSearchValidation RelaxedEnvironmentVariableValidation
ResilientWatchCacheInitialization RetryGenerateName SchedulerQueueingHints SeparateTaintEvictionController
ServiceAccountTokenJTI ServiceAccountTokenNodeBinding ServiceAccountTokenNodeBindingValidation
ServiceAccountTokenPodNodeInfo ServiceTrafficDistribution SidecarContainers SizeMemoryBackedVolumes
StatefulSetAutoDeletePVC StreamingCollectionEncodingToJSON StreamingCollectionEncodingToProtobuf
StrictCostEnforcementForVAP StrictCostEnforcementForWebhooks StructuredAuthenticationConfiguration
StructuredAuthorizationConfiguration TopologyAwareHints WinDSR WinOverlay
    """,
}
DEPENDENTS: dict[str, str] = {}

VERSION = Version(
    minor="1.34",
    release="v1.34.4",
    gates_by_state=GATES,
    dependents=DEPENDENTS,
    not_yet=frozenset(
        {
            "DRADeviceTaintRules",
            "DRAFractionalCapacityRange",
            "DRANodeAllocatableResources",
            "GenericWorkload",
            "InPlacePodLevelResourcesVerticalScaling",
            "NodeDeclaredFeatures",
            "OpportunisticBatching",
            "TaintTolerationComparisonOperators",
            "VolumeLimitScaling",
        }
    ),
    plugins="""
        SchedulingGates PrioritySort NodeUnschedulable NodeName TaintToleration:3 NodeAffinity:2 NodePorts
        NodeResourcesFit:1 VolumeRestrictions NodeVolumeLimits VolumeBinding VolumeZone PodTopologySpread:2
        InterPodAffinity:2 DynamicResources DefaultPreemption NodeResourcesBalancedAllocation:1 ImageLocality:1
        DefaultBinder
    """,
    gated_plugins={"DynamicResources": "DynamicResourceAllocation"},
    missing_plugins=frozenset({"NodeDeclaredFeatures"}),
    missing_points={
        "DynamicResources": frozenset({"score"}),
        "NodeName": frozenset({"preFilter"}),
        "NodeUnschedulable": frozenset({"preFilter"}),
        "TaintToleration": frozenset({"preFilter"}),
    },
    missing_arguments={"DynamicResources": frozenset({"bindingTimeout"})},
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
        names_idle_post_filter=True,
        names_preemption=False,
        explains_cel_errors=False,
        sums_before_maxima=False,
        checks_pools=False,
        relates_preemptors=True,
        throws_dice_for_ties=True,
    ),
)
