// Command yaml says what sigs.k8s.io/yaml makes of a text.
package main

import (
	"encoding/json"

	"seatrial.dev/tools/recorders/lines"
	"sigs.k8s.io/yaml"
)

func main() {
	lines.Answer(func(text string) any {
		data, err := yaml.YAMLToJSONStrict([]byte(text))
		if err != nil {
			return []any{text, nil, err.Error()}
		}
		return []any{text, json.RawMessage(data), ""}
	})
}
