import { useLocalStorage } from '@mantine/hooks';
import { type KeyboardEvent, type PointerEvent, useState } from 'react';
import classes from './pane-handle.module.css';

/** Pixels. */
interface WidthRange {
  initial: number;
  min: number;
  max: number;
}

/** The width of a pane, in pixels, which the browser keeps by the name of the pane. */
export function usePaneWidth(name: string, { initial, min, max }: WidthRange) {
  const [stored, store] = useLocalStorage<number>({
    key: `assay-width-${name}`,
    defaultValue: initial,
    getInitialValueInEffect: false,
  });
  const clamp = (width: number) => Math.round(Math.min(max, Math.max(min, width)));
  return {
    width: Number.isFinite(stored) ? clamp(stored) : initial,
    setWidth: (width: number) => store(clamp(width)),
    min,
    max,
  };
}

/** Pixels that an arrow key moves it. */
const STEP = 20;

interface PaneHandleProps {
  label: string;
  pane: ReturnType<typeof usePaneWidth>;
}

/** The start edge of a pane at the end of its page: dragging or arrow keys change its width. */
export function PaneHandle({ label, pane: { width, setWidth, min, max } }: PaneHandleProps) {
  const [dragged, setDragged] = useState<{ from: number; width: number }>();
  const handleKey = (event: KeyboardEvent) => {
    const change = { ArrowLeft: STEP, ArrowRight: -STEP }[event.key];
    if (change === undefined) return;
    event.preventDefault();
    setWidth(width + change);
  };
  const start = (event: PointerEvent) => {
    event.currentTarget.setPointerCapture(event.pointerId);
    setDragged({ from: event.clientX, width });
  };
  return (
    // A separator that moves takes the focus (WAI-ARIA, window splitter).
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions
    <div
      role="separator"
      aria-orientation="vertical"
      aria-label={label}
      aria-valuenow={width}
      aria-valuemin={min}
      aria-valuemax={max}
      // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
      tabIndex={0}
      className={classes.handle}
      onKeyDown={handleKey}
      onPointerDown={start}
      onPointerMove={({ clientX }) =>
        dragged !== undefined && setWidth(dragged.width + dragged.from - clientX)
      }
      onPointerUp={() => setDragged(undefined)}
      onPointerCancel={() => setDragged(undefined)}
    />
  );
}
