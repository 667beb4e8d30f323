// Command patches says what a JSON, merge or strategic merge patch makes of a document.
package main

import (
	"encoding/json"
	"fmt"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	kjson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"seatrial.dev/tools/recorders/lines"
)

type question struct {
	Type  string
	Kind  string
	Doc   json.RawMessage
	Patch json.RawMessage
}

var kinds = map[string]any{"Pod": &v1.Pod{}, "Node": &v1.Node{}, "Service": &v1.Service{}, "Deployment": &appsv1.Deployment{}}

func patched(q question) (result any, err error) {
	defer func() {
		if fault := recover(); fault != nil {
			err = fmt.Errorf("panic")
		}
	}()
	switch q.Type {
	case "json":
		patch, err := jsonpatch.DecodePatch(q.Patch)
		if err != nil {
			return nil, err
		}
		data, err := patch.Apply(q.Doc)
		return json.RawMessage(data), err
	case "merge":
		data, err := jsonpatch.MergePatch(q.Doc, q.Patch)
		return json.RawMessage(data), err
	}
	var document, patch map[string]any
	if err := kjson.Unmarshal(q.Doc, &document); err != nil {
		return nil, err
	}
	if err := kjson.Unmarshal(q.Patch, &patch); err != nil {
		return nil, err
	}
	return strategicpatch.StrategicMergeMapPatch(document, patch, kinds[q.Kind])
}

func main() {
	jsonpatch.AccumulatedCopySizeLimit = 3 * 1024 * 1024
	lines.Answer(func(q question) any {
		result, err := patched(q)
		if err != nil {
			return []any{nil, err.Error()}
		}
		return []any{result, ""}
	})
}
