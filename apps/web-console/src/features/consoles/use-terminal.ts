import type { FitAddon } from '@xterm/addon-fit';
import type { Terminal } from '@xterm/xterm';
import { useEffect, useRef, useState, type RefObject } from 'react';

const LOOK = {
  fontFamily: "ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace",
  scrollback: 5_000,
  theme: { background: '#0f1214', foreground: '#e4e6e8', cursor: '#7db9f5', selectionBackground: '#35506e' },
} as const;

interface TerminalOptions {
  /** Undefined until they are loaded. */
  libraries: Pick<typeof import('./screen-libraries.js'), 'Terminal' | 'FitAddon'> | undefined;
  /** In pixels. */
  fontSize: number;
  onCopy: (selection: string) => void;
  /** Whether anything is selected, whenever that changes. */
  onSelection: (selected: boolean) => void;
}

/** A terminal that fills its place and follows its size. */
export function useTerminal({ libraries, fontSize, onCopy, onSelection }: TerminalOptions): {
  place: RefObject<HTMLDivElement | null>;
  terminal: Terminal | undefined;
} {
  const place = useRef<HTMLDivElement>(null);
  const [made, setMade] = useState<{ terminal: Terminal; fit: FitAddon }>();
  const copy = useRef(onCopy);
  useEffect(() => {
    copy.current = onCopy;
  }, [onCopy]);

  useEffect(() => {
    const element = place.current;
    if (!element || !libraries) return undefined;
    const still = matchMedia('(prefers-reduced-motion: reduce)').matches;
    const terminal = new libraries.Terminal({ ...LOOK, cursorBlink: !still, screenReaderMode: false });
    const fit = new libraries.FitAddon();
    terminal.loadAddon(fit);
    terminal.open(element);
    terminal.attachCustomKeyEventHandler((event) => !takesKey(event, terminal, (text) => copy.current(text)));
    const observer = new ResizeObserver(() => fit.fit());
    observer.observe(element);
    terminal.onSelectionChange(() => onSelection(terminal.hasSelection()));
    setMade({ terminal, fit });
    return () => {
      observer.disconnect();
      setMade(undefined);
      terminal.dispose();
    };
  }, [libraries, onSelection]);

  useEffect(() => {
    if (!made) return;
    made.terminal.options.fontSize = fontSize;
    made.fit.fit();
  }, [made, fontSize]);

  return { place, terminal: made?.terminal };
}

/**
 * Keys that mean something here instead of in the guest: Ctrl-Shift-C copies, where browsers open their tools; Ctrl-Shift-V
 * pastes, which is the browser's own.
 */
function takesKey(event: KeyboardEvent, terminal: Terminal, copy: (text: string) => void): boolean {
  if (!event.ctrlKey || !event.shiftKey || event.type !== 'keydown') return false;
  if (event.code === 'KeyV') return true;
  if (event.code !== 'KeyC' || !terminal.hasSelection()) return false;
  event.preventDefault();
  copy(terminal.getSelection());
  return true;
}
