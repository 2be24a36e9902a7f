import type { ActivityView } from '@headgate/api-contracts';
import { useState, type PointerEvent } from 'react';
import type { TimeSpan } from './activity-span.js';
import { spansOf } from './activity-bars.js';

interface Drag {
  readonly start: number;
  readonly end: number;
}

/**
 * Selects whole spans of a chart: a click one of them, a drag several. A second click on the only one that is selected
 * selects nothing.
 */
export function useSpanDrag(
  activity: ActivityView,
  selected: TimeSpan | undefined,
  onSelect: (span: TimeSpan | undefined) => void,
) {
  const [drag, setDrag] = useState<Drag>();
  const indexAt = ({ currentTarget, clientX }: PointerEvent): number => {
    const { left, width } = currentTarget.getBoundingClientRect();
    const spans = spansOf(activity);
    return Math.min(spans - 1, Math.max(0, Math.floor(((clientX - left) / Math.max(1, width)) * spans)));
  };
  const toSpan = ({ start, end }: Drag): TimeSpan => ({
    from: activity.from + Math.min(start, end) * activity.stepMs,
    to: activity.from + (Math.max(start, end) + 1) * activity.stepMs,
  });
  return {
    span: drag ? toSpan(drag) : selected,
    handlers: {
      onPointerDown: (event: PointerEvent) => {
        if (event.button !== 0) return;
        event.currentTarget.setPointerCapture?.(event.pointerId);
        setDrag({ start: indexAt(event), end: indexAt(event) });
      },
      onPointerMove: (event: PointerEvent) => {
        if (drag) setDrag({ ...drag, end: indexAt(event) });
      },
      onPointerUp: () => {
        if (!drag) return;
        const span = toSpan(drag);
        onSelect(span.from === selected?.from && span.to === selected.to ? undefined : span);
        setDrag(undefined);
      },
      onPointerCancel: () => setDrag(undefined),
    },
  };
}
