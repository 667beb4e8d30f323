/** Why a pod is where it is, from the results that the scheduler wrote onto it. */
import { useEffect, useMemo, useState } from "react";
import { DecisionPanel } from "../decisionpanel";
import type { KubeObject } from "./api";
import { useCluster, reasonOf } from "./clusterview";
import { attemptsOfPod, podRun, readWeights, type Weights } from "./results";

export function Verdict({ pod }: { pod: KubeObject }) {
  const { cluster } = useCluster();
  const [weights, setWeights] = useState<Weights>();
  useEffect(() => void readWeights().then(setWeights), []);
  const attempts = useMemo(() => attemptsOfPod(pod), [pod]);
  const [chosen, setChosen] = useState<number>();
  const { run, replay } = useMemo(() => podRun(pod, attempts, cluster, weights ?? {}), [pod, attempts, cluster, weights]);
  if (!attempts.length) {
    const pointer = pod.metadata.annotations?.["kube-scheduler-simulator.sigs.k8s.io/result-in-timeline"];
    return (
      <p className="hint empty">
        {pointer ? `The scheduler's results are not on this pod: ${pointer}.`
          : pod.spec?.nodeName ? `No scheduler of this server has tried this pod: it came with its node, ${pod.spec.nodeName}, or the server runs with --record none.`
          : `No scheduler has tried this pod: ${reasonOf(pod)}.`}
      </p>
    );
  }
  return <DecisionPanel run={run} replay={replay} pod={0} title={pod.spec?.nodeName ? "Why is it here?" : "Why does it wait?"} attempt={Math.min(chosen ?? attempts.length - 1, attempts.length - 1)} onAttempt={setChosen} isWide />;
}
