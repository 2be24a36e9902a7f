import { useRef, type PointerEvent } from 'react';

interface PanelDrag {
  onPointerDown: (event: PointerEvent) => void;
  onPointerMove: (event: PointerEvent) => void;
  onPointerUp: (event: PointerEvent) => void;
  onPointerCancel: (event: PointerEvent) => void;
}

/** Dragging the left edge of a panel on the right: to the left makes it wider. All lengths are in CSS pixels. */
export function usePanelDrag(width: number, resize: (to: number) => void): PanelDrag {
  const start = useRef<{ x: number; width: number }>(undefined);
  const end = (): void => {
    start.current = undefined;
  };
  return {
    onPointerDown: (event) => {
      if (event.button !== 0) return;
      event.currentTarget.setPointerCapture(event.pointerId);
      start.current = { x: event.clientX, width };
    },
    onPointerMove: ({ clientX }) => {
      if (start.current) resize(start.current.width + start.current.x - clientX);
    },
    onPointerUp: end,
    onPointerCancel: end,
  };
}
