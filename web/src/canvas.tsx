/** A canvas that fills its box, is sharp on every screen, and is drawn again when the theme or the size changes. */
import { useEffect, useLayoutEffect, useRef, type PointerEvent, type KeyboardEvent } from "react";

interface Props {
  height: number;
  label: string;
  draw: (context: CanvasRenderingContext2D, width: number, height: number) => void;
  onPoint?: (x: number, y: number, width: number) => void;
  onPick?: (x: number, y: number, width: number) => void;
  onLeave?: () => void;
  onZoom?: (factor: number, at: number) => void;
  onPan?: (share: number) => void;
  onKey?: (event: KeyboardEvent) => void;
}

export function Canvas({ height, label, draw, onPoint, onPick, onLeave, onZoom, onPan, onKey }: Props) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const drag = useRef<{ x: number; moved: boolean } | null>(null);

  useLayoutEffect(() => {
    const element = canvas.current!;
    const render = () => {
      const ratio = devicePixelRatio || 1;
      const width = element.clientWidth;
      element.width = Math.round(width * ratio);
      element.height = Math.round(height * ratio);
      const context = element.getContext("2d")!;
      context.scale(ratio, ratio);
      context.clearRect(0, 0, width, height);
      draw(context, width, height);
    };
    render();
    const observer = new ResizeObserver(render);
    observer.observe(element);
    const scheme = matchMedia("(prefers-color-scheme: dark)");
    scheme.addEventListener("change", render);
    return () => {
      observer.disconnect();
      scheme.removeEventListener("change", render);
    };
  });

  useEffect(() => {
    const element = canvas.current!;
    const wheel = (event: WheelEvent) => {
      if (!onZoom || !(event.ctrlKey || event.metaKey || event.shiftKey)) return;
      event.preventDefault();
      onZoom(event.deltaY + event.deltaX < 0 ? 0.8 : 1.25, event.offsetX / element.clientWidth);
    };
    element.addEventListener("wheel", wheel, { passive: false });
    return () => element.removeEventListener("wheel", wheel);
  });

  const place = (event: PointerEvent): [number, number, number] => {
    const box = canvas.current!.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top, box.width];
  };
  return (
    <canvas
      ref={canvas}
      role="img"
      aria-label={label}
      tabIndex={onKey ? 0 : undefined}
      style={{ width: "100%", height, touchAction: "pan-y" }}
      onKeyDown={onKey}
      onPointerDown={(event) => {
        drag.current = { x: event.clientX, moved: false };
        canvas.current!.setPointerCapture(event.pointerId);
      }}
      onPointerMove={(event) => {
        const [x, y, width] = place(event);
        const start = drag.current;
        if (start && onPan && Math.abs(event.clientX - start.x) > 3) {
          onPan((start.x - event.clientX) / width);
          drag.current = { x: event.clientX, moved: true };
        } else if (!start) onPoint?.(x, y, width);
      }}
      onPointerUp={(event) => {
        if (drag.current && !drag.current.moved) onPick?.(...place(event));
        drag.current = null;
      }}
      onPointerLeave={onLeave}
    />
  );
}
