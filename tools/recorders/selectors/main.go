// Command selectors says what label, field and node selectors are, and which labels they match.
package main

import (
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	"seatrial.dev/tools/recorders/lines"
)

type question struct {
	Kind     string
	Text     string
	Selector *metav1.LabelSelector
	Node     *v1.NodeSelector
	Labels   []map[string]string
	Name     string
}

func parse(q question) (string, func(map[string]string) bool, error) {
	switch q.Kind {
	case "field":
		selector, err := fields.ParseSelector(q.Text)
		if err != nil {
			return "", nil, err
		}
		return selector.String(), func(l map[string]string) bool { return selector.Matches(fields.Set(l)) }, nil
	case "node":
		selector, err := nodeaffinity.NewNodeSelector(q.Node)
		if err != nil {
			return "", nil, err
		}
		return "", func(l map[string]string) bool {
			return selector.Match(&v1.Node{ObjectMeta: metav1.ObjectMeta{Name: q.Name, Labels: l}})
		}, nil
	}
	selector, err := labels.Parse(q.Text)
	if q.Kind == "doc" {
		selector, err = metav1.LabelSelectorAsSelector(q.Selector)
	}
	if err != nil {
		return "", nil, err
	}
	return selector.String(), func(l map[string]string) bool { return selector.Matches(labels.Set(l)) }, nil
}

func main() {
	lines.Answer(func(q question) any {
		text, matches, err := parse(q)
		if err != nil {
			return []any{err.Error()}
		}
		found := []bool{}
		for _, l := range q.Labels {
			found = append(found, matches(l))
		}
		return []any{text, found}
	})
}
