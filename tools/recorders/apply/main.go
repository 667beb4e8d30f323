// Command apply says what becomes of an object and its managedFields under a sequence of applies and updates.
package main

import (
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/client-go/applyconfigurations"
	"k8s.io/client-go/kubernetes/scheme"
	"seatrial.dev/tools/recorders/lines"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

type step struct {
	Op          string
	Manager     string
	Force       bool
	Subresource string
	Object      map[string]any
}

type question struct {
	ApiVersion string
	Kind       string
	Steps      []step
}

// objects converts within the one version there is, creates objects that know their kind, and defaults nothing.
type objects struct{ gvk schema.GroupVersionKind }

func (o objects) New(gvk schema.GroupVersionKind) (runtime.Object, error) {
	object, err := scheme.Scheme.New(gvk)
	if err == nil {
		object.GetObjectKind().SetGroupVersionKind(gvk)
	}
	return object, err
}

func (o objects) ConvertToVersion(in runtime.Object, _ runtime.GroupVersioner) (runtime.Object, error) {
	if u, ok := in.(*unstructured.Unstructured); ok {
		return o.typed(u)
	}
	return in, nil
}

func (objects) Convert(_, _, _ any) error { return nil }

func (objects) ConvertFieldLabel(_ schema.GroupVersionKind, label, value string) (string, string, error) {
	return label, value, nil
}

func (objects) Default(runtime.Object) {}

func (o objects) typed(u *unstructured.Unstructured) (runtime.Object, error) {
	object, err := o.New(o.gvk)
	if err != nil {
		return nil, err
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, object); err != nil {
		return nil, err
	}
	object.GetObjectKind().SetGroupVersionKind(o.gvk)
	return object, nil
}

func (o objects) manager(types managedfields.TypeConverter, subresource string) *managedfields.FieldManager {
	reset := "status"
	if subresource == "status" {
		reset = "spec"
	}
	filter := fieldpath.NewExcludeSetFilter(fieldpath.NewSet(fieldpath.MakePathOrDie(reset)))
	version := fieldpath.APIVersion(o.gvk.GroupVersion().String())
	filters := map[fieldpath.APIVersion]fieldpath.Filter{version: filter}
	manager, err := managedfields.NewDefaultFieldManager(types, o, o, o, o.gvk, o.gvk.GroupVersion(), subresource, filters)
	if err != nil {
		panic(err)
	}
	return manager
}

func refusal(err error) any {
	answer := map[string]any{"error": err.Error()}
	if status, ok := err.(apierrors.APIStatus); ok && status.Status().Details != nil {
		answer["causes"] = status.Status().Details.Causes
	}
	return answer
}

// result describes an object; of times only whether they are set.
func result(object runtime.Object) any {
	accessor, _ := meta.Accessor(object)
	times := []bool{}
	entries := accessor.GetManagedFields()
	for i := range entries {
		times = append(times, entries[i].Time != nil)
		entries[i].Time = nil
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		panic(err)
	}
	return map[string]any{"object": content, "times": times}
}

func main() {
	types := applyconfigurations.NewTypeConverter(scheme.Scheme)
	lines.Answer(func(q question) any {
		version, _ := schema.ParseGroupVersion(q.ApiVersion)
		kind := objects{version.WithKind(q.Kind)}
		live, _ := kind.New(kind.gvk)
		answers := []any{}
		for _, s := range q.Steps {
			sent := &unstructured.Unstructured{Object: integers(s.Object).(map[string]any)}
			sent.SetGroupVersionKind(kind.gvk)
			var object runtime.Object
			var err error
			if s.Op == "apply" {
				object, err = kind.manager(types, s.Subresource).Apply(live, sent, s.Manager, s.Force)
			} else if object, err = kind.typed(sent); err != nil {
				answers = append(answers, map[string]any{"error": "decode: " + err.Error()})
				continue
			} else {
				object, err = kind.manager(types, s.Subresource).Update(live, object, s.Manager)
			}
			if err != nil {
				answers = append(answers, refusal(err))
				continue
			}
			accessor, _ := meta.Accessor(object)
			accessor.SetUID("u")
			object.GetObjectKind().SetGroupVersionKind(kind.gvk)
			answers = append(answers, result(object))
			live = object
		}
		return answers
	})
}

// integers turns the whole numbers of decoded JSON into what Kubernetes decodes them to.
func integers(value any) any {
	switch typed := value.(type) {
	case map[string]any:
		for key := range typed {
			typed[key] = integers(typed[key])
		}
	case []any:
		for i := range typed {
			typed[i] = integers(typed[i])
		}
	case float64:
		if typed == float64(int64(typed)) {
			return int64(typed)
		}
	}
	return value
}
