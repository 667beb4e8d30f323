// Command roundtrip tells what kube-apiserver makes of bodies: it reads one JSON string per line, decodes it strictly,
// and prints a line with the strict errors or the refusal, the object as Go writes it back (in JSON and in protobuf), and
// the object defaulted.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"log"
	"os"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/install"
	"k8s.io/apimachinery/pkg/runtime"
	serializer "k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	apiregistration "k8s.io/kube-aggregator/pkg/apis/apiregistration/install"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	_ "k8s.io/kubernetes/pkg/controlplane"
)

type answer struct {
	Refusal   string   `json:"refusal,omitempty"`
	Strict    []string `json:"strict,omitempty"`
	Decoded   any      `json:"decoded,omitempty"`
	Defaulted any      `json:"defaulted,omitempty"`
	Protobuf  []byte   `json:"protobuf,omitempty"`
}

func main() {
	scheme := legacyscheme.Scheme
	apiextensions.Install(scheme)
	apiregistration.Install(scheme)
	decoder := serializer.NewSerializerWithOptions(
		serializer.DefaultMetaFactory, scheme, scheme, serializer.SerializerOptions{Strict: true})
	input := bufio.NewReader(os.Stdin)
	lines := json.NewDecoder(input)
	output := json.NewEncoder(os.Stdout)
	output.SetEscapeHTML(false)
	for lines.More() {
		var body string
		if err := lines.Decode(&body); err != nil {
			log.Fatal(err)
		}
		if err := output.Encode(read(scheme, decoder, body)); err != nil {
			log.Fatal(err)
		}
	}
}

func read(scheme *runtime.Scheme, decoder runtime.Decoder, body string) (result answer) {
	object, _, err := decoder.Decode([]byte(body), nil, nil)
	if strict, ok := runtime.AsStrictDecodingError(err); ok {
		for _, each := range strict.Errors() {
			result.Strict = append(result.Strict, each.Error())
		}
	} else if err != nil {
		result.Refusal = err.Error()
		return result
	}
	result.Decoded = written(object)
	var message bytes.Buffer
	if err := protobuf.NewSerializer(scheme, scheme).Encode(object, &message); err != nil {
		log.Fatal(err)
	}
	result.Protobuf = message.Bytes()
	scheme.Default(object)
	result.Defaulted = written(object)
	return result
}

func written(object runtime.Object) any {
	data, err := json.Marshal(object)
	if err != nil {
		log.Fatal(err)
	}
	return json.RawMessage(data)
}
