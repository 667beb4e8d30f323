package main

import (
	"log"
	"maps"
	"reflect"
	"slices"
	"sort"
	"strings"

	admissionv1 "k8s.io/api/admission/v1"
	admissionv1beta1 "k8s.io/api/admission/v1beta1"
	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	apidiscoveryv2beta1 "k8s.io/api/apidiscovery/v2beta1"
	imagepolicyv1alpha1 "k8s.io/api/imagepolicy/v1alpha1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1beta1 "k8s.io/apimachinery/pkg/apis/meta/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	"k8s.io/kube-openapi/pkg/common"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"k8s.io/kubernetes/pkg/generated/openapi"
)

// Type is a Go struct as it looks on the wire.
type Type struct {
	Fields  []*Field `json:"fields"`
	MapType string   `json:"mapType,omitempty"`
}

// Field is one field. Type is a scalar's name, the name of a Type, or one of them behind "[]" (list), "{}" (map of
// strings) or "~" (a list that protobuf wraps in a message of its own).
type Field struct {
	Name          string   `json:"name,omitempty"`
	Type          string   `json:"type"`
	Go            string   `json:"go,omitempty"`
	Number        int      `json:"number,omitempty"`
	Pointer       bool     `json:"pointer,omitempty"`
	OmitEmpty     bool     `json:"omitEmpty,omitempty"`
	OmitZero      bool     `json:"omitZero,omitempty"`
	Inline        bool     `json:"inline,omitempty"`
	Required      bool     `json:"required,omitempty"`
	Nullable      bool     `json:"nullable,omitempty"`
	PatchStrategy string   `json:"patchStrategy,omitempty"`
	MergeKey      string   `json:"mergeKey,omitempty"`
	ListType      string   `json:"listType,omitempty"`
	ListMapKeys   []string `json:"listMapKeys,omitempty"`
	MapType       string   `json:"mapType,omitempty"`
	Format        string   `json:"format,omitempty"`
	Enum          []any    `json:"enum,omitempty"`
	Default       any      `json:"default,omitzero"`
}

// Types with a JSON or protobuf form of their own.
var special = map[reflect.Type]string{
	reflect.TypeFor[resource.Quantity]():                            "quantity",
	reflect.TypeFor[intstr.IntOrString]():                           "intOrString",
	reflect.TypeFor[metav1.Time]():                                  "time",
	reflect.TypeFor[metav1.MicroTime]():                             "microTime",
	reflect.TypeFor[metav1.Duration]():                              "duration",
	reflect.TypeFor[metav1.FieldsV1]():                              "fieldsV1",
	reflect.TypeFor[runtime.RawExtension]():                         "raw",
	reflect.TypeFor[apiextensionsv1.JSON]():                         "json",
	reflect.TypeFor[apiextensionsv1.JSONSchemaPropsOrBool]():        "schemaOrBool",
	reflect.TypeFor[apiextensionsv1.JSONSchemaPropsOrArray]():       "schemaOrArray",
	reflect.TypeFor[apiextensionsv1.JSONSchemaPropsOrStringArray](): "schemaOrStrings",
	reflect.TypeFor[[]byte]():                                       "bytes",
}

type walk struct {
	types       map[string]*Type
	definitions map[string]common.OpenAPIDefinition
}

func newWalk() *walk {
	reference := func(path string) spec.Ref { return spec.MustCreateRef("#/definitions/" + path) }
	return &walk{types: map[string]*Type{}, definitions: openapi.GetOpenAPIDefinitions(reference)}
}

// registered walks every type a client can know and answers which type an apiVersion and kind name.
func (w *walk) registered() map[string]string {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		clientscheme.AddToScheme, apiextensionsv1.AddToScheme, apiregistrationv1.AddToScheme, metav1beta1.AddMetaToScheme,
		admissionv1.AddToScheme, admissionv1beta1.AddToScheme, apidiscoveryv2.AddToScheme, apidiscoveryv2beta1.AddToScheme,
		imagepolicyv1alpha1.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			log.Fatal(err)
		}
	}
	// Discovery answers are not in the scheme of every group but may be asked for in protobuf.
	for _, extra := range []any{metav1.APIGroupList{}, metav1.APIResourceList{}, metav1.APIVersions{}, metav1.PartialObjectMetadata{}, metav1.PartialObjectMetadataList{}} {
		w.name(reflect.TypeOf(extra))
	}
	kinds := map[string]string{}
	for gvk, goType := range scheme.AllKnownTypes() {
		if gvk.Version != runtime.APIVersionInternal {
			kinds[gvk.GroupVersion().String()+"/"+gvk.Kind] = w.name(goType)
		}
	}
	return kinds
}

// name answers how fields refer to a type, and walks it if it is new.
func (w *walk) name(t reflect.Type) string {
	if name, ok := special[t]; ok {
		if strings.HasPrefix(name, "schemaOr") {
			w.name(reflect.TypeFor[apiextensionsv1.JSONSchemaProps]())
		}
		return name
	}
	switch t.Kind() {
	case reflect.Pointer:
		return w.name(t.Elem())
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return "bytes"
		}
		_, wrapped := reflect.PointerTo(t).MethodByName("Marshal")
		if wrapped {
			return "~[]" + w.name(t.Elem())
		}
		return "[]" + w.name(t.Elem())
	case reflect.Map:
		return "{}" + w.name(t.Elem())
	case reflect.Struct:
		return w.walkStruct(t)
	default:
		return t.Kind().String()
	}
}

func (w *walk) walkStruct(t reflect.Type) string {
	named, ok := reflect.Zero(t).Interface().(interface{ OpenAPIModelName() string })
	if !ok {
		log.Fatalf("%v has no model name", t)
	}
	name := named.OpenAPIModelName()
	if w.types[name] != nil {
		return name
	}
	result := &Type{}
	w.types[name] = result
	definition := w.definitions[name].Schema
	result.MapType, _ = definition.Extensions.GetString("x-kubernetes-map-type")
	for i := range t.NumField() {
		if field := w.field(t.Field(i), &definition); field != nil {
			result.Fields = append(result.Fields, field)
		}
	}
	return name
}

func (w *walk) field(f reflect.StructField, definition *spec.Schema) *Field {
	name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
	if name == "-" || !f.IsExported() {
		return nil
	}
	field := &Field{
		Name:          name,
		Type:          w.name(f.Type),
		Number:        protobufNumber(f.Tag.Get("protobuf")),
		Pointer:       f.Type.Kind() == reflect.Pointer,
		OmitEmpty:     strings.Contains(options, "omitempty"),
		OmitZero:      strings.Contains(options, "omitzero"),
		Inline:        name == "",
		PatchStrategy: f.Tag.Get("patchStrategy"),
		MergeKey:      f.Tag.Get("patchMergeKey"),
	}
	goType := f.Type
	if field.Pointer {
		goType = goType.Elem()
	}
	if name := spelled(field.Type); name != "" && goType.String() != name {
		field.Go = goType.String()
	}
	if property, ok := definition.Properties[name]; ok {
		describe(field, &property)
	}
	for _, required := range definition.Required {
		field.Required = field.Required || required == name
	}
	return field
}

// describe adds what only the OpenAPI definition of a field tells.
func describe(field *Field, property *spec.Schema) {
	field.ListType, _ = property.Extensions.GetString("x-kubernetes-list-type")
	field.ListMapKeys, _ = property.Extensions.GetStringSlice("x-kubernetes-list-map-keys")
	field.MapType, _ = property.Extensions.GetString("x-kubernetes-map-type")
	field.Nullable = property.Nullable
	field.Enum = property.Enum
	if property.Items != nil && property.Items.Schema != nil && len(property.Items.Schema.Enum) > 0 {
		field.Enum = property.Items.Schema.Enum
	}
	sort.Slice(field.Enum, func(i, j int) bool { return field.Enum[i].(string) < field.Enum[j].(string) })
	switch property.Format {
	case "int32", "int64", "byte", "date-time", "double", "int-or-string":
	default:
		field.Format = property.Format
	}
	// A zero default says something only of a field that may be left out; it then stands for the missing key of a list.
	if value := reflect.ValueOf(property.Default); value.IsValid() && value.Kind() != reflect.Map {
		if field.Pointer || field.OmitEmpty || !value.IsZero() {
			field.Default = property.Default
		}
	}
}

// spelled is how Go would write a type if nobody had given it a name of its own.
func spelled(reference string) string {
	switch {
	case strings.HasPrefix(reference, "[]"):
		return "[]" + spelled(reference[2:])
	case strings.HasPrefix(reference, "{}"):
		return "map[string]" + spelled(reference[2:])
	case reference == "bytes":
		return "[]uint8"
	case strings.Contains(reference, "."):
		parts := strings.Split(reference, ".")
		return strings.Join(parts[len(parts)-2:], ".")
	case slices.Contains(slices.Collect(maps.Values(special)), reference):
		return ""
	default:
		return reference
	}
}

func protobufNumber(tag string) int {
	parts := strings.Split(tag, ",")
	if len(parts) < 2 {
		return 0
	}
	number := 0
	for _, digit := range parts[1] {
		number = number*10 + int(digit-'0')
	}
	return number
}
