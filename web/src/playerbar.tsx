/** The bar below every view: play, step, scrub, and how many pods wait along the run. */
import { useEffect, useMemo, useRef } from "react";
import { KINDS, themed } from "./colours";
import { duration, whole } from "./derive";
import { type Player, SPEEDS, usePlayer } from "./player";
import { series } from "./replay";

export function PlayerBar({ player }: { player: Player }) {
  usePlayer(player);
  const { run, attempt, step } = player;
  const count = run.tickOf.length;
  const waiting = useMemo(() => series(run, 600), [run]);
  const label = step < 0 ? (run.start > 0 ? "snapshot, before the first step" : "before the first step") : `step ${run.steps[step].label}.${player.minor}`;
  const time = run.steps.some((each) => each.time) ? ` · +${duration(player.time * 1000)}` : "";
  const decision = count ? ` · decision ${whole(attempt + 1)} of ${whole(count)}` : "";
  const atEnd = player.tick >= player.end;
  return (
    <section className="bar" aria-label="Player">
      <div className="buttons">
        <Button label="Previous step" icon="previousStep" onClick={() => player.nextStep(-1)} disabled={player.tick <= player.start} />
        <Button label="Previous decision" icon="previous" onClick={() => player.nextDecision(-1)} disabled={player.tick <= player.start} />
        <Button
          label={player.isPlaying ? "Pause" : "Play"}
          icon={player.isPlaying ? "pause" : "play"}
          onClick={() => (player.isPlaying ? player.pause() : player.play())}
        />
        <Button label="Next decision" icon="next" onClick={() => player.nextDecision(1)} disabled={atEnd} />
        <Button label="Next step" icon="nextStep" onClick={() => player.nextStep(1)} disabled={atEnd} />
        <select aria-label="Speed" value={player.speed} onChange={(event) => player.setSpeed(Number(event.target.value))}>
          {SPEEDS.map((speed) => <option key={speed} value={speed}>{whole(speed)}/s</option>)}
        </select>
      </div>
      <p className="where" aria-live={player.isPlaying ? "off" : "polite"}>{label}{time}{decision}</p>
      <Scrubber
        {...{ start: player.start, end: player.end, value: player.tick, waiting }}
        marks={run.stepEnds}
        label="Moment of the run"
        text={step < 0 ? "before the first step" : `step ${run.steps[step].label}.${player.minor}, decision ${attempt + 1}`}
        onSeek={(tick) => player.seek(tick)}
      />
    </section>
  );
}

/** Shapes of 16 by 16: fonts of many machines lack the signs. */
const ICONS = {
  previousStep: "M3 3h2v10H3zM13 3v10L6 8z",
  previous: "M12 3v10L4 8z",
  play: "M4 2v12l10-6z",
  pause: "M4 3h3v10H4zM9 3h3v10H9z",
  next: "M4 3l7 5-7 5zM12 5h1v6h-1z",
  nextStep: "M3 3l7 5-7 5zM11 3h2v10h-2z",
};

export function Button({ label, icon, onClick, disabled }: { label: string; icon: keyof typeof ICONS; onClick: () => void; disabled?: boolean }) {
  return (
    <button type="button" aria-label={label} title={label} disabled={disabled} onClick={onClick}>
      <svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true"><path d={ICONS[icon]} fill="currentColor" /></svg>
    </button>
  );
}

/** The slider over all moments, with the number of waiting pods behind it. */
export function Scrubber({ start, end, value, waiting, marks, label, text, onSeek }: {
  start: number;
  end: number;
  value: number;
  waiting: { ticks: number[]; waiting: number[] };
  /** Where lines are drawn: the ends of steps. */
  marks: ArrayLike<number>;
  label: string;
  text: string;
  onSeek: (tick: number) => void;
}) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const most = waiting.waiting.reduce((more, each) => Math.max(more, each), 0);
  useEffect(() => {
    const element = canvas.current!;
    const render = () => {
      const ratio = devicePixelRatio || 1;
      const [width, height] = [element.clientWidth, element.clientHeight];
      Object.assign(element, { width: Math.round(width * ratio), height: Math.round(height * ratio) });
      const context = element.getContext("2d")!;
      context.scale(ratio, ratio);
      const x = (tick: number) => ((tick - start) / Math.max(1, end - start)) * width;
      context.fillStyle = KINDS[1];
      waiting.ticks.forEach((tick, i) => {
        const next = waiting.ticks[i + 1] ?? end;
        const tall = (waiting.waiting[i] / Math.max(1, most)) * (height - 2);
        context.fillRect(x(tick), height - tall, Math.max(1, x(next) - x(tick) + 0.5), tall);
      });
      context.fillStyle = themed("--line-strong");
      let free = -8;
      for (let i = 0; i < marks.length; i++) {
        if (x(marks[i]) - free < 4) continue;
        free = x(marks[i]);
        context.fillRect(Math.min(width - 1, free), 0, 1, height);
      }
    };
    const observer = new ResizeObserver(render);
    observer.observe(element);
    return () => observer.disconnect();
  }, [waiting, marks, start, end, most]);
  return (
    <div className="scrubber" title={`Orange: waiting pods (at most ${whole(most)})${marks.length ? "; lines: ends of steps" : ""}`}>
      <canvas ref={canvas} aria-hidden="true" />
      <input type="range" aria-label={label} aria-valuetext={text} min={start} max={end} value={value} onChange={(event) => onSeek(Number(event.target.value))} />
    </div>
  );
}
