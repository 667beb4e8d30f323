/** The bar below the live cluster: scrub back through what the page has seen, play it, and return to now. */
import { useEffect, useMemo } from "react";
import { whole } from "../derive";
import { isFree, isPressable } from "../keys";
import { SPEEDS } from "../player";
import { Button, Scrubber } from "../playerbar";
import { useMoment } from "./moment";

const POINTS = 600;

function clock(time: number): string {
  return new Date(time).toLocaleTimeString();
}

export function LiveBar() {
  const moment = useMoment();
  const { history, tick, end, time, past } = moment;
  const waiting = useMemo(() => {
    const every = Math.max(1, Math.ceil(end / POINTS));
    const ticks = Array.from({ length: Math.ceil(end / every) }, (_, i) => Math.min(end, (i + 1) * every));
    return { ticks, waiting: ticks.map((each) => history.waiting[each - 1]) };
  }, [history, end]);
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (!isFree(event)) return;
      if (event.key === " " && !isPressable(event)) moment.isPlaying ? moment.pause() : moment.play();
      else if (event.key === "ArrowLeft") moment.next(-1);
      else if (event.key === "ArrowRight") moment.next(1);
      else return;
      event.preventDefault();
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, [moment]);
  const newer = history.changes.length - end;
  const where = !past ? `now · ${whole(end)} changes seen`
    : `${time === undefined ? "" : clock(time)} · change ${whole(tick)} of ${whole(end)}${newer > 0 ? ` · ${whole(newer)} newer` : ""}`;
  return (
    <section className="bar" aria-label="Player">
      <div className="buttons">
        <Button label="Previous moment" icon="previous" onClick={() => moment.next(-1)} disabled={tick <= 0} />
        <Button label={moment.isPlaying ? "Pause" : "Play"} icon={moment.isPlaying ? "pause" : "play"} onClick={() => (moment.isPlaying ? moment.pause() : moment.play())} disabled={end === 0} />
        <Button label="Next moment" icon="next" onClick={() => moment.next(1)} disabled={!past} />
        <select aria-label="Speed" value={moment.speed} onChange={(event) => moment.setSpeed(Number(event.target.value))}>
          {SPEEDS.map((speed) => <option key={speed} value={speed}>{whole(speed)}/s</option>)}
        </select>
        <button type="button" className="pill live" aria-pressed={!past} onClick={() => moment.live()} title="Follow the cluster">live</button>
      </div>
      <p className="where" aria-live={past && !moment.isPlaying ? "polite" : "off"} title={history.opened ? `This page was opened at ${clock(history.opened)}. Of what was before it knows the objects that were still there.` : undefined}>{where}</p>
      <Scrubber start={0} end={end} value={tick} marks={NONE} waiting={waiting} label="Moment of the cluster" text={where} onSeek={(to) => moment.seek(to)} />
    </section>
  );
}

const NONE: number[] = [];
