package main

import (
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/registry/rest"
	_ "k8s.io/kubernetes/pkg/apis/apps/install"
	_ "k8s.io/kubernetes/pkg/apis/autoscaling/install"
	_ "k8s.io/kubernetes/pkg/apis/batch/install"
	_ "k8s.io/kubernetes/pkg/apis/coordination/install"
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	_ "k8s.io/kubernetes/pkg/apis/policy/install"
	_ "k8s.io/kubernetes/pkg/apis/resource/install"
	_ "k8s.io/kubernetes/pkg/apis/scheduling/install"
	_ "k8s.io/kubernetes/pkg/apis/storage/install"
	"k8s.io/kubernetes/pkg/registry/apps/daemonset"
	"k8s.io/kubernetes/pkg/registry/apps/deployment"
	"k8s.io/kubernetes/pkg/registry/apps/replicaset"
	"k8s.io/kubernetes/pkg/registry/apps/statefulset"
	"k8s.io/kubernetes/pkg/registry/autoscaling/horizontalpodautoscaler"
	"k8s.io/kubernetes/pkg/registry/batch/cronjob"
	"k8s.io/kubernetes/pkg/registry/batch/job"
	"k8s.io/kubernetes/pkg/registry/coordination/lease"
	"k8s.io/kubernetes/pkg/registry/core/configmap"
	"k8s.io/kubernetes/pkg/registry/core/limitrange"
	namespaces "k8s.io/kubernetes/pkg/registry/core/namespace"
	"k8s.io/kubernetes/pkg/registry/core/node"
	"k8s.io/kubernetes/pkg/registry/core/persistentvolume"
	"k8s.io/kubernetes/pkg/registry/core/persistentvolumeclaim"
	"k8s.io/kubernetes/pkg/registry/core/pod"
	"k8s.io/kubernetes/pkg/registry/core/podtemplate"
	"k8s.io/kubernetes/pkg/registry/core/replicationcontroller"
	"k8s.io/kubernetes/pkg/registry/core/resourcequota"
	"k8s.io/kubernetes/pkg/registry/core/secret"
	"k8s.io/kubernetes/pkg/registry/core/service"
	"k8s.io/kubernetes/pkg/registry/policy/poddisruptionbudget"
	"k8s.io/kubernetes/pkg/registry/resource/deviceclass"
	"k8s.io/kubernetes/pkg/registry/resource/resourceclaim"
	"k8s.io/kubernetes/pkg/registry/resource/resourceclaimtemplate"
	"k8s.io/kubernetes/pkg/registry/resource/resourceslice"
	"k8s.io/kubernetes/pkg/registry/scheduling/priorityclass"
	"k8s.io/kubernetes/pkg/registry/storage/csinode"
	"k8s.io/kubernetes/pkg/registry/storage/storageclass"
)

// A strategy is what the server asks on a create, and on an update by subresource.
type strategy struct {
	create rest.RESTCreateStrategy
	update map[string]rest.RESTUpdateStrategy
}

type doors = map[string]rest.RESTUpdateStrategy

var claims = resourceclaim.NewStrategy(nil, nil)

var strategies = map[schema.GroupKind]strategy{
	{Kind: "Pod"}: {pod.Strategy, doors{
		"": pod.Strategy, "status": pod.StatusStrategy, "resize": pod.ResizeStrategy,
		"ephemeralcontainers": pod.EphemeralContainersStrategy,
	}},
	{Kind: "Node"}: {node.Strategy, doors{"": node.Strategy, "status": node.StatusStrategy}},
	{Kind: "PersistentVolume"}: {
		persistentvolume.Strategy, doors{"": persistentvolume.Strategy, "status": persistentvolume.StatusStrategy},
	},
	{Kind: "PersistentVolumeClaim"}: {
		persistentvolumeclaim.Strategy,
		doors{"": persistentvolumeclaim.Strategy, "status": persistentvolumeclaim.StatusStrategy},
	},
	{Kind: "Namespace"}: {namespaces.Strategy, doors{
		"": namespaces.Strategy, "status": namespaces.StatusStrategy, "finalize": namespaces.FinalizeStrategy,
	}},
	{Kind: "ResourceQuota"}: {
		resourcequota.Strategy, doors{"": resourcequota.Strategy, "status": resourcequota.StatusStrategy},
	},
	{Kind: "LimitRange"}:  {limitrange.Strategy, doors{"": limitrange.Strategy}},
	{Kind: "PodTemplate"}: {podtemplate.Strategy, doors{"": podtemplate.Strategy}},
	{Kind: "ReplicationController"}: {
		replicationcontroller.Strategy,
		doors{"": replicationcontroller.Strategy, "status": replicationcontroller.StatusStrategy},
	},
	{Kind: "ConfigMap"}: {configmap.Strategy, doors{"": configmap.Strategy}},
	{Kind: "Secret"}:    {secret.Strategy, doors{"": secret.Strategy}},
	{Kind: "Service"}:   {service.Strategy, doors{"": service.Strategy, "status": service.StatusStrategy}},
	{Group: "apps", Kind: "Deployment"}: {
		deployment.Strategy, doors{"": deployment.Strategy, "status": deployment.StatusStrategy},
	},
	{Group: "apps", Kind: "ReplicaSet"}: {
		replicaset.Strategy, doors{"": replicaset.Strategy, "status": replicaset.StatusStrategy},
	},
	{Group: "apps", Kind: "StatefulSet"}: {
		statefulset.Strategy, doors{"": statefulset.Strategy, "status": statefulset.StatusStrategy},
	},
	{Group: "apps", Kind: "DaemonSet"}: {
		daemonset.Strategy, doors{"": daemonset.Strategy, "status": daemonset.StatusStrategy},
	},
	{Group: "batch", Kind: "Job"}:     {job.Strategy, doors{"": job.Strategy, "status": job.StatusStrategy}},
	{Group: "batch", Kind: "CronJob"}: {cronjob.Strategy, doors{"": cronjob.Strategy, "status": cronjob.StatusStrategy}},
	{Group: "policy", Kind: "PodDisruptionBudget"}: {
		poddisruptionbudget.Strategy,
		doors{"": poddisruptionbudget.Strategy, "status": poddisruptionbudget.StatusStrategy},
	},
	{Group: "scheduling.k8s.io", Kind: "PriorityClass"}: {priorityclass.Strategy, doors{"": priorityclass.Strategy}},
	{Group: "storage.k8s.io", Kind: "StorageClass"}:     {storageclass.Strategy, doors{"": storageclass.Strategy}},
	{Group: "storage.k8s.io", Kind: "CSINode"}:          {csinode.Strategy, doors{"": csinode.Strategy}},
	{Group: "coordination.k8s.io", Kind: "Lease"}:       {lease.Strategy, doors{"": lease.Strategy}},
	{Group: "autoscaling", Kind: "HorizontalPodAutoscaler"}: {
		horizontalpodautoscaler.Strategy,
		doors{"": horizontalpodautoscaler.Strategy, "status": horizontalpodautoscaler.StatusStrategy},
	},
	{Group: "resource.k8s.io", Kind: "ResourceClaim"}: {claims, doors{"": claims}},
	{Group: "resource.k8s.io", Kind: "ResourceClaimTemplate"}: {
		resourceclaimtemplate.NewStrategy(nil), doors{"": resourceclaimtemplate.NewStrategy(nil)},
	},
	{Group: "resource.k8s.io", Kind: "DeviceClass"}:   {deviceclass.Strategy, doors{"": deviceclass.Strategy}},
	{Group: "resource.k8s.io", Kind: "ResourceSlice"}: {resourceslice.Strategy, doors{"": resourceslice.Strategy}},
}
