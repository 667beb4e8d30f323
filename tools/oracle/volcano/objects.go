package main

// Objects of a case that Volcano's mock cache does not take by itself: those that plugins read through informers, the load of
// nodes, NUMA topologies, the configuration of shared devices, and what plugins note on pods.

import (
	"context"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/kubernetes/fake"

	nodeinfov1alpha1 "volcano.sh/apis/pkg/apis/nodeinfo/v1alpha1"
	"volcano.sh/volcano/pkg/scheduler/api"
	"volcano.sh/volcano/pkg/scheduler/api/devices"
	"volcano.sh/volcano/pkg/scheduler/cache"
	"volcano.sh/volcano/pkg/scheduler/conf"
	"volcano.sh/volcano/pkg/scheduler/framework"
)

type Objects struct {
	PodDisruptionBudgets   []*policyv1.PodDisruptionBudget  `json:"podDisruptionBudgets,omitempty"`
	PersistentVolumes      []*v1.PersistentVolume           `json:"persistentVolumes,omitempty"`
	PersistentVolumeClaims []*v1.PersistentVolumeClaim      `json:"persistentVolumeClaims,omitempty"`
	StorageClasses         []*storagev1.StorageClass        `json:"storageClasses,omitempty"`
	CSINodes               []*storagev1.CSINode             `json:"csiNodes,omitempty"`
	ConfigMaps             []*v1.ConfigMap                  `json:"configMaps,omitempty"`
	Numatopologies         []*nodeinfov1alpha1.Numatopology `json:"numatopologies,omitempty"`
	NodeUsage              map[string]Usage                 `json:"nodeUsage,omitempty"`
}

// Usage of a node in percent, by the period it was measured over.
type Usage struct {
	CPU    map[string]float64 `json:"cpu"`
	Memory map[string]float64 `json:"memory"`
}

// prepareDevices makes the plugin deviceshare once before any node is read, as in a scheduler that has run before: which devices
// nodes have is decided by its arguments.
func prepareDevices(c *Case, tiers []conf.Tier) {
	client := fake.NewSimpleClientset()
	for _, cm := range c.ConfigMaps {
		must(client.CoreV1().ConfigMaps(cm.Namespace).Create(context.TODO(), cm, metav1.CreateOptions{}))
	}
	devices.SetClient(client)
	for _, tier := range tiers {
		for _, option := range tier.Plugins {
			if build, found := framework.GetPluginBuilder(option.Name); found && option.Name == "deviceshare" {
				build(option.Arguments)
			}
		}
	}
}

func must[T any](_ T, err error) {
	if err != nil {
		panic(err)
	}
}

// createObjects puts what plugins read through informers into the API before the informers start.
func createObjects(c *Case, sc *cache.SchedulerCache) {
	ctx, options, client := context.TODO(), metav1.CreateOptions{}, sc.Client()
	// The mock cache knows none; these are the defaults of the scheduler's own.
	sc.IgnoredCSIProvisioners = sets.New("rancher.io/local-path", "hostpath.csi.k8s.io")
	for _, o := range c.PodDisruptionBudgets {
		must(client.PolicyV1().PodDisruptionBudgets(o.Namespace).Create(ctx, o, options))
	}
	for _, o := range c.PersistentVolumes {
		must(client.CoreV1().PersistentVolumes().Create(ctx, o, options))
	}
	for _, o := range c.PersistentVolumeClaims {
		must(client.CoreV1().PersistentVolumeClaims(o.Namespace).Create(ctx, o, options))
	}
	for _, o := range c.StorageClasses {
		must(client.StorageV1().StorageClasses().Create(ctx, o, options))
	}
	for _, o := range c.CSINodes {
		must(client.StorageV1().CSINodes().Create(ctx, o, options))
	}
	factory := sc.SharedInformerFactory()
	factory.Policy().V1().PodDisruptionBudgets().Informer()
	factory.Core().V1().PersistentVolumes().Informer()
	factory.Core().V1().PersistentVolumeClaims().Informer()
	factory.Storage().V1().StorageClasses().Informer()
	factory.Storage().V1().CSINodes().Informer()
	factory.Storage().V1().CSIDrivers().Informer()
	factory.Storage().V1().CSIStorageCapacities().Informer()
	factory.Storage().V1().VolumeAttachments().Informer()
}

// measureNodes gives nodes their load and their NUMA topology.
func measureNodes(c *Case, sc *cache.SchedulerCache) {
	for name, usage := range c.NodeUsage {
		sc.Nodes[name].ResourceUsage = &api.NodeUsage{MetricsTime: time.Now(), CPUUsageAvg: usage.CPU, MEMUsageAvg: usage.Memory}
	}
	for _, o := range c.Numatopologies {
		sc.AddNumaInfoV1alpha1(o.DeepCopy())
	}
}

// noted is what plugins add to the annotations of a task when it is bound; times aside where `plain`.
func noted(t *api.TaskInfo, plain bool) map[string]string {
	found := map[string]string{}
	for k, v := range t.PodAnnotations {
		if old, ok := t.Pod.Annotations[k]; ok && old == v {
			continue
		}
		if plain && strings.HasSuffix(k, "-time") {
			continue
		}
		found[k] = v
	}
	return found
}
