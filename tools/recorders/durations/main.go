// Command durations says what time.ParseDuration makes of a text.
package main

import (
	"time"

	"seatrial.dev/tools/recorders/lines"
)

func main() {
	lines.Answer(func(text string) any {
		duration, err := time.ParseDuration(text)
		if err != nil {
			return []any{text, err.Error()}
		}
		return []any{text, int64(duration), duration.String()}
	})
}
