package main

import (
	"encoding/json"
	"log"
	"os"
	"path/filepath"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/kubernetes/pkg/controlplane"
)

// Group is an API group with its versions, the preferred one first.
type Group struct {
	Name     string    `json:"name"`
	Versions []Version `json:"versions"`
}

// Version is one version of a group; Served tells whether a default kube-apiserver has it on.
type Version struct {
	Version   string               `json:"version"`
	Served    bool                 `json:"served"`
	Resources []metav1.APIResource `json:"resources"`
}

// Groups served by the API extensions server and the aggregator, which have no switch in the control plane.
var alwaysOn = map[string]bool{"apiextensions.k8s.io": true, "apiregistration.k8s.io": true}

func discovery(module string) []Group {
	directory := filepath.Join(module, "api", "discovery")
	enabled := controlplane.DefaultAPIResourceConfigSource()
	var list struct {
		Items []struct {
			Metadata metav1.ObjectMeta
			Versions []struct{ Version string }
		}
	}
	read(filepath.Join(directory, "aggregated_v2.json"), &list)
	groups := []Group{{Versions: []Version{{Version: "v1", Served: true, Resources: resources(directory, "api__v1.json")}}}}
	for _, item := range list.Items {
		group := Group{Name: item.Metadata.Name}
		for _, version := range item.Versions {
			gv := schema.GroupVersion{Group: group.Name, Version: version.Version}
			group.Versions = append(group.Versions, Version{
				Version:   version.Version,
				Served:    enabled.GroupVersionConfigs[gv] || alwaysOn[group.Name],
				Resources: resources(directory, "apis__"+strings.ReplaceAll(gv.String(), "/", "__")+".json"),
			})
		}
		groups = append(groups, group)
	}
	return groups
}

func resources(directory, name string) []metav1.APIResource {
	var list metav1.APIResourceList
	read(filepath.Join(directory, name), &list)
	for i := range list.APIResources {
		list.APIResources[i].StorageVersionHash = ""
	}
	return list.APIResources
}

func read(path string, into any) {
	data, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(data, into)
	}
	if err != nil {
		log.Fatal(err)
	}
}
