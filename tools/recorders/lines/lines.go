// Package lines answers questions that come one JSON value a line, with one JSON value a line.
package lines

import (
	"bufio"
	"encoding/json"
	"os"
)

// Answer reads questions of type Q from standard input and writes what `answer` makes of each.
func Answer[Q any](answer func(Q) any) {
	scanner := bufio.NewScanner(os.Stdin)
	scanner.Buffer(nil, 1<<26)
	encoder := json.NewEncoder(os.Stdout)
	encoder.SetEscapeHTML(false)
	for scanner.Scan() {
		var question Q
		if err := json.Unmarshal(scanner.Bytes(), &question); err != nil {
			panic(err)
		}
		if err := encoder.Encode(answer(question)); err != nil {
			panic(err)
		}
	}
}
