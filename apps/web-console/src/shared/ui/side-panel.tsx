import { t } from '@lingui/core/macro';
import { useSyncExternalStore, type KeyboardEvent, type ReactNode } from 'react';
import { createPortal } from 'react-dom';
import { useRemembered } from '../storage/remembered.js';
import { usePanelDrag } from './use-panel-drag.js';

/** In CSS pixels. */
export const PANEL_WIDTH = { least: 320, usual: 372, most: 560 } as const;

/** How far one press of an arrow key moves the edge, in CSS pixels. */
const KEY_STEP = 16;

/** The element on the right of the page that a panel fills; none in a window without the frame of the console. */
let outlet: HTMLElement | null = null;
const listeners = new Set<() => void>();

function setOutlet(element: HTMLElement | null): void {
  outlet = element;
  for (const listener of listeners) listener();
}

const subscribe = (listener: () => void): (() => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

/** The place of the panel. It comes after the page in the order of focus, and takes no room while it is empty. */
export const SidePanelOutlet = () => <div ref={setOutlet} className="hg-side-outlet" />;

interface SidePanelProps {
  /** The name for screen readers, such as that of the instance. */
  label: string;
  /** Called by Escape in the panel, unless a part of the panel has used the key. */
  onClose: () => void;
  children: ReactNode;
}

/**
 * A panel on the right of the page, for details and plans. It is next to the page in a wide window, over it below
 * 1,200 pixels, and fills the window below 640. Its width is the same for all panels and is remembered. It is no
 * dialog: the page stays usable. The caller shows at most one.
 */
export function SidePanel({ label, onClose, children }: SidePanelProps) {
  const element = useSyncExternalStore(subscribe, () => outlet);
  const [width, setWidth] = useRemembered<number>('panel-width', PANEL_WIDTH.usual);
  const resize = (to: number): void =>
    setWidth(Math.round(Math.min(PANEL_WIDTH.most, Math.max(PANEL_WIDTH.least, to))));
  const drag = usePanelDrag(width, resize);
  if (!element) return null;

  const onResizeKey = (event: KeyboardEvent): void => {
    const widths: Record<string, number> = {
      ArrowLeft: width + KEY_STEP,
      ArrowRight: width - KEY_STEP,
      Home: PANEL_WIDTH.least,
      End: PANEL_WIDTH.most,
    };
    const to = widths[event.key];
    if (to === undefined) return;
    event.preventDefault();
    resize(to);
  };
  const onEscape = (event: KeyboardEvent): void => {
    if (event.key !== 'Escape' || event.defaultPrevented) return;
    event.preventDefault();
    onClose();
  };

  return createPortal(
    <aside className="hg-side-panel" aria-label={label} style={{ inlineSize: width }} onKeyDown={onEscape}>
      <div
        className="hg-side-edge"
        role="separator"
        aria-orientation="vertical"
        aria-label={t`Width of the panel`}
        aria-valuenow={width}
        aria-valuemin={PANEL_WIDTH.least}
        aria-valuemax={PANEL_WIDTH.most}
        tabIndex={0}
        onKeyDown={onResizeKey}
        onDoubleClick={() => resize(PANEL_WIDTH.usual)}
        {...drag}
      />
      <div className="hg-side-content">{children}</div>
    </aside>,
    element,
  );
}
