// Command limits says what LimitRanger makes of a pod, and what a quota charges for it.
package main

import (
	"time"

	v1 "k8s.io/api/core/v1"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/kubernetes/pkg/apis/core"
	corev1 "k8s.io/kubernetes/pkg/apis/core/v1"
	quota "k8s.io/kubernetes/pkg/quota/v1/evaluator/core"
	"k8s.io/kubernetes/plugin/pkg/admission/limitranger"
	clocktesting "k8s.io/utils/clock/testing"
	"seatrial.dev/tools/recorders/lines"
)

type question struct {
	Pod   *v1.Pod
	Range *v1.LimitRange
}

func main() {
	clock := clocktesting.NewFakePassiveClock(time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC))
	evaluator := quota.NewPodEvaluator(nil, clocktesting.NewFakeClock(clock.Now()))
	lines.Answer(func(q question) any {
		usage, err := evaluator.Usage(q.Pod)
		if err != nil {
			panic(err)
		}
		pod := &core.Pod{}
		if err := corev1.Convert_v1_Pod_To_core_Pod(q.Pod, pod, nil); err != nil {
			panic(err)
		}
		if err := limitranger.PodMutateLimitFunc(q.Range, pod); err != nil {
			panic(err)
		}
		faults := []string{}
		if err := limitranger.PodValidateLimitFunc(q.Range, pod); err != nil {
			for _, fault := range err.(utilerrors.Aggregate).Errors() {
				faults = append(faults, fault.Error())
			}
		}
		mutated := &v1.Pod{}
		if err := corev1.Convert_core_Pod_To_v1_Pod(pod, mutated, nil); err != nil {
			panic(err)
		}
		return map[string]any{"usage": usage, "faults": faults, "pod": mutated}
	})
}
