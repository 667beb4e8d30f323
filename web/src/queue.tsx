/** Where pods wait at the cursor: the queues of the scheduler, each with its first pods. */
import { Name } from "./names";
import { counted, whole } from "./derive";
import type { Player } from "./player";
import { usePlayer } from "./player";
import { ACTIVE, BACKOFF, GATED, OVER, PERMIT, PLACED, UNSCHEDULABLE } from "./replay";

const QUEUES: [number, string, string][] = [
  [ACTIVE, "Active", "not tried yet"],
  [BACKOFF, "Backoff", "after an error"],
  [UNSCHEDULABLE, "Unschedulable", "no node took it at its last attempt"],
  [GATED, "Gated", "held by scheduling gates"],
  [PERMIT, "Waiting on Permit", "a plugin holds it"],
];

export function Queue({ player, onSelect, selected }: { player: Player; onSelect: (pod: number) => void; selected: number }) {
  usePlayer(player);
  const { run } = player;
  const replay = player.replays[0];
  const all = Math.max(1, replay.waiting);
  return (
    <section className="queue" aria-label="Queue">
      <h2>Queue</h2>
      {replay.waiting === 0 && <p className="hint">{player.tick > player.start ? "No pod waits at this moment. Scrub back to see pods waiting." : "No pod waits yet. Press Play below."}</p>}
      {QUEUES.map(([state, name, hint]) => {
        const count = replay.counts[state];
        return (
          <div key={state} className={count ? "lane" : "lane empty"}>
            <h3 title={hint}><span>{name}</span> <b>{whole(count)}</b></h3>
            {count > 0 && <div className="fill"><i style={{ width: `${(100 * count) / all}%` }} /></div>}
            {count > 0 && (
              <ul>
                {replay.first(state, 6).map((pod) => (
                  <li key={pod}>
                    <button type="button" aria-pressed={pod === selected} onClick={() => onSelect(pod)}><Name text={run.pods.key[pod]} /></button>
                  </li>
                ))}
                {count > 6 && <li className="hint">and {whole(count - 6)} more</li>}
              </ul>
            )}
          </div>
        );
      })}
      <p className="hint sum">{counted(replay.counts[PLACED], "pod")} on nodes · {whole(replay.counts[OVER])} ended</p>
    </section>
  );
}
