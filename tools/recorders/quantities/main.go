// Command quantities says what resource.Quantity makes of a text, or of a pair of texts.
package main

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/resource"
	"seatrial.dev/tools/recorders/lines"
)

func one(text string) any {
	q, err := resource.ParseQuantity(text)
	if err != nil {
		return []any{text, err.Error()}
	}
	float := fmt.Sprint(q.AsApproximateFloat64())
	return []any{text, q.String(), q.Value(), q.MilliValue(), q.ScaledValue(resource.Nano), q.ScaledValue(3), q.Sign(), float}
}

func pair(left, right string) any {
	a, errA := resource.ParseQuantity(left)
	b, errB := resource.ParseQuantity(right)
	if errA != nil || errB != nil {
		return nil
	}
	sum, difference, product, rounded, compared := a.DeepCopy(), a.DeepCopy(), a.DeepCopy(), a.DeepCopy(), a.DeepCopy()
	sum.Add(b.DeepCopy())
	difference.Sub(b.DeepCopy())
	product.Mul(37)
	rounded.RoundUp(0)
	order := compared.Cmp(b.DeepCopy())
	return []any{left, right, sum.String(), sum.Value(), difference.String(), difference.MilliValue(), product.String(), order, rounded.String()}
}

func main() {
	lines.Answer(func(texts []string) any {
		if len(texts) == 2 {
			return pair(texts[0], texts[1])
		}
		return one(texts[0])
	})
}
