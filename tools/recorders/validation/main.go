// Command validation says what the API server's strategies find wrong with an object that is created or changed.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	"k8s.io/kubernetes/pkg/capabilities"
	"seatrial.dev/tools/recorders/lines"
)

// A question is an object that is created, or an old one with either what replaces it or the changes made to it.
type question struct {
	Object      json.RawMessage
	Old         json.RawMessage
	Changes     [][]any
	Subresource string
}

type cause struct {
	Field   string `json:"field"`
	Message string `json:"message"`
	Reason  string `json:"reason"`
}

func main() {
	capabilities.Initialize(capabilities.Capabilities{AllowPrivileged: true})
	lines.Answer(func(q question) (answer any) {
		defer func() {
			if recover() != nil {
				answer = map[string]string{"refused": "panic"}
			}
		}()
		return ask(q)
	})
}

func ask(q question) any {
	first := q.Object
	if len(q.Old) > 0 {
		first = q.Old
	}
	object, gvk, err := decode(first)
	if err != nil {
		return map[string]string{"undecodable": err.Error()}
	}
	strategy, known := strategies[gvk.GroupKind()]
	if !known {
		panic(gvk.String())
	}
	ctx := request.WithNamespace(context.Background(), namespace(strategy, object))
	ctx = request.WithRequestInfo(ctx, &request.RequestInfo{
		IsResourceRequest: true, APIGroup: gvk.Group, APIVersion: gvk.Version, Subresource: q.Subresource,
	})
	err = create(ctx, strategy, object)
	if len(q.Old) == 0 {
		return causes(err)
	}
	if err != nil {
		panic(err)
	}
	if len(q.Object) == 0 {
		q.Object = changed(object, gvk.GroupVersion(), q.Changes)
	}
	next, _, err := decode(q.Object)
	if err != nil {
		return map[string]string{"undecodable": err.Error()}
	}
	return causes(update(ctx, strategy, q.Subresource, next, object))
}

// changed is an object with values set (a path and a value) or removed (a path alone).
func changed(object runtime.Object, version schema.GroupVersion, changes [][]any) json.RawMessage {
	data, err := runtime.Encode(legacyscheme.Codecs.LegacyCodec(version), object)
	if err != nil {
		panic(err)
	}
	var document any
	if err := json.Unmarshal(data, &document); err != nil {
		panic(err)
	}
	for _, change := range changes {
		document = put(document, change[0].([]any), change[1:])
	}
	result, err := json.Marshal(document)
	if err != nil {
		panic(err)
	}
	return result
}

func put(document any, path []any, value []any) any {
	if len(path) == 0 {
		return value[0]
	}
	if index, ok := path[0].(float64); ok {
		list := document.([]any)
		if len(path) == 1 && len(value) == 0 {
			return append(list[:int(index)], list[int(index)+1:]...)
		}
		list[int(index)] = put(list[int(index)], path[1:], value)
		return list
	}
	holder, ok := document.(map[string]any)
	if !ok {
		holder = map[string]any{}
	}
	if key := path[0].(string); len(path) == 1 && len(value) == 0 {
		delete(holder, key)
	} else {
		holder[key] = put(holder[key], path[1:], value)
	}
	return holder
}

func decode(data json.RawMessage) (runtime.Object, schema.GroupVersionKind, error) {
	object, gvk, err := legacyscheme.Codecs.UniversalDecoder().Decode(data, nil, nil)
	if err != nil {
		return nil, schema.GroupVersionKind{}, err
	}
	return object, *gvk, nil
}

func namespace(strategy strategy, object runtime.Object) string {
	if !strategy.create.NamespaceScoped() {
		return metav1.NamespaceNone
	}
	return accessor(object).GetNamespace()
}

func create(ctx context.Context, strategy strategy, object runtime.Object) error {
	meta := accessor(object)
	meta.SetUID("11111111-2222-3333-4444-555555555555")
	meta.SetCreationTimestamp(metav1.NewTime(time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)))
	if object, ok := object.(interface{ SetDeletionTimestamp(*metav1.Time) }); ok {
		object.SetDeletionTimestamp(nil)
	}
	return rest.BeforeCreate(strategy.create, ctx, object)
}

func update(ctx context.Context, strategy strategy, subresource string, object, old runtime.Object) error {
	accessor(object).SetResourceVersion("1")
	accessor(old).SetResourceVersion("1")
	door, known := strategy.update[subresource]
	if !known {
		panic(subresource)
	}
	return rest.BeforeUpdate(door, ctx, object, old)
}

func accessor(object runtime.Object) metav1.Object {
	found, err := meta.Accessor(object)
	if err != nil {
		panic(err)
	}
	return found
}

func causes(err error) any {
	found := []cause{}
	if err == nil {
		return found
	}
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		panic(err)
	}
	if details := status.Status().Details; details != nil {
		for _, each := range details.Causes {
			found = append(found, cause{each.Field, each.Message, string(each.Type)})
		}
	}
	if len(found) == 0 {
		return map[string]string{"refused": err.Error()}
	}
	return found
}
