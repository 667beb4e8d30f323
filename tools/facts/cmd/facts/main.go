// Command facts prints what Kubernetes knows about its built-in kinds, as JSON without prose.
//
// The Go types give fields, JSON and protobuf tags and patch strategies; the generated OpenAPI definitions give
// required fields, list types, enums and defaults; the recorded discovery documents give resources, and the control
// plane's own configuration tells which group versions are on by default.
package main

import (
	"encoding/json"
	"flag"
	"log"
	"os"
)

// Facts is the whole data file. Types are keyed by their OpenAPI model name.
type Facts struct {
	Version string            `json:"version"`
	Types   map[string]*Type  `json:"types"`
	Kinds   map[string]string `json:"kinds"`
	Groups  []Group           `json:"groups"`
}

func main() {
	module := flag.String("module", "", "directory of the k8s.io/kubernetes module")
	version := flag.String("version", "", "version of the k8s.io/kubernetes module")
	flag.Parse()
	walk := newWalk()
	kinds := walk.registered()
	facts := Facts{Version: *version, Types: walk.types, Kinds: kinds, Groups: discovery(*module)}
	encoder := json.NewEncoder(os.Stdout)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(facts); err != nil {
		log.Fatal(err)
	}
}
