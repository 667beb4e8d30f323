"""The specs that are not run, by what they need; docs/serve.md lists the reasons."""

PROCESS = "a process in a container: its output, its answers, its exit code, or a command in it"
WEBHOOK = "a webhook or an API server that runs in a pod"
IMAGE = "an image that cannot be pulled: every image is taken to exist"
PROSE = "upstream's descriptions of fields, which are not shipped"
STOPPING = "a container that takes a while to stop"
TOKENS = "the token volume that kube-apiserver adds to pods"

LEFT_OUT: dict[str, str] = {
    r"\[sig-api-machinery\] AdmissionWebhook .* (listing|patching|should (mutate|deny|honor|not|uncond))": WEBHOOK,
    r"\[sig-api-machinery\] AdmissionWebhook .* should be able to deny": WEBHOOK,
    r"\[sig-api-machinery\] CustomResourceConversionWebhook": WEBHOOK,
    r"\[sig-api-machinery\] CustomResourceFieldSelectors": WEBHOOK,
    r"\[sig-api-machinery\] Aggregator": WEBHOOK,
    r"works for CRD with validation schema": PROSE,
    r"\[sig-apps\] Deployment deployment should support proportional scaling": IMAGE,
    r"\[sig-apps\] Daemon set .* should rollback without unnecessary restarts": IMAGE,
    r"\[sig-apps\] Job should (allow to use|create pods for an Indexed|execute all|manage the|mark indexes)": PROCESS,
    r"\[sig-apps\] Job should (run a job to completion|terminate job execution)": PROCESS,
    r"\[sig-apps\] Job with successPolicy": PROCESS,
    r"\[sig-apps\] \w+ should serve a basic image": PROCESS,
    r"\[sig-apps\] StatefulSet .*(rolling updates and roll backs|Burst scaling|Scaling should happen)": PROCESS,
    r"\[sig-auth\] ServiceAccounts should mount": PROCESS,
    r"\[sig-auth\] ServiceAccounts ServiceAccountIssuerDiscovery": PROCESS,
    r"\[sig-auth\] ServiceAccounts should allow opting out of API token automount": TOKENS,
    r"\[sig-node\] (ConfigMap|Secrets) should be consumable": PROCESS,
    r"\[sig-node\] (Container Lifecycle Hook|Container Runtime|Containers|Downward API|ImageVolume)": PROCESS,
    r"\[sig-node\] Ephemeral Containers": PROCESS,
    r"\[sig-node\] InitContainer .*(RestartNever|should not start)": PROCESS,
    r"\[sig-node\] Kubelet .*should (have|print|write|not)": PROCESS,
    r"\[sig-node\] (KubeletManagedEtcHosts|PreStop|Probing container|Security Context)": PROCESS,
    r"\[sig-node\] Pods should (contain environment variables|support re)": PROCESS,
    r"\[sig-node\] Pod InPlace Resize": PROCESS,
    r"\[sig-node\] Sysctls .* should support": PROCESS,
    r"\[sig-node\] Variable Expansion": PROCESS,
    r"custom-set generation on new pods and graceful delete": STOPPING,
}
