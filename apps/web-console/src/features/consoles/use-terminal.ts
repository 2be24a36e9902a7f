import type { FitAddon } from '@xterm/addon-fit';
import type { Terminal } from '@xterm/xterm';
import { useEffect, useRef, useState, type RefObject } from 'react';

const APPEARANCE = {
  fontFamily: "ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace",
  scrollback: 5_000,
  theme: { background: '#0f1214', foreground: '#e4e6e8', cursor: '#7db9f5', selectionBackground: '#35506e' },
} as const;

interface TerminalOptions {
  /** Undefined until loaded. */
  libraries: Pick<typeof import('./screen-libraries.js'), 'Terminal' | 'FitAddon'> | undefined;
  /** In pixels. */
  fontSize: number;
  onCopy: (selection: string) => void;
  /** Called when text is selected or the selection is cleared. */
  onSelection: (selected: boolean) => void;
}

/** A terminal that fills its container and follows its size. */
export function useTerminal({ libraries, fontSize, onCopy, onSelection }: TerminalOptions): {
  container: RefObject<HTMLDivElement | null>;
  terminal: Terminal | undefined;
} {
  const container = useRef<HTMLDivElement>(null);
  const [opened, setOpened] = useState<{ terminal: Terminal; fit: FitAddon }>();
  const copy = useRef(onCopy);
  useEffect(() => {
    copy.current = onCopy;
  }, [onCopy]);

  useEffect(() => {
    const element = container.current;
    if (!element || !libraries) return undefined;
    const reducedMotion = matchMedia('(prefers-reduced-motion: reduce)').matches;
    const terminal = new libraries.Terminal({ ...APPEARANCE, cursorBlink: !reducedMotion, screenReaderMode: false });
    const fit = new libraries.FitAddon();
    terminal.loadAddon(fit);
    terminal.open(element);
    terminal.attachCustomKeyEventHandler((event) => !handlesKey(event, terminal, (text) => copy.current(text)));
    const observer = new ResizeObserver(() => fit.fit());
    observer.observe(element);
    terminal.onSelectionChange(() => onSelection(terminal.hasSelection()));
    setOpened({ terminal, fit });
    return () => {
      observer.disconnect();
      setOpened(undefined);
      terminal.dispose();
    };
  }, [libraries, onSelection]);

  useEffect(() => {
    if (!opened) return;
    opened.terminal.options.fontSize = fontSize;
    opened.fit.fit();
  }, [opened, fontSize]);

  return { container, terminal: opened?.terminal };
}

/**
 * Handles keys that must not reach the guest: Ctrl+Shift+C copies (browsers would open their tools), and Ctrl+Shift+V
 * is the browser's own command to paste.
 */
function handlesKey(event: KeyboardEvent, terminal: Terminal, copy: (text: string) => void): boolean {
  if (!event.ctrlKey || !event.shiftKey || event.type !== 'keydown') return false;
  if (event.code === 'KeyV') return true;
  if (event.code !== 'KeyC' || !terminal.hasSelection()) return false;
  event.preventDefault();
  copy(terminal.getSelection());
  return true;
}
