import { t } from '@lingui/core/macro';
import { useEffect, useEffectEvent, type ReactNode } from 'react';
import { useActions } from '../actions/use-actions.js';
import { useIsPlanOpen } from '../ui/panel-queue.js';
import { PeekFrame } from '../ui/peek-frame.js';
import { isPlainKey } from '../ui/use-shortcut.js';

interface ResourcePeekProps<T> {
  items: readonly T[];
  keyOf: (item: T) => string;
  nameOf: (item: T) => string;
  /** Whether an item has a text instead of a name; by default none. */
  isText?: (item: T) => boolean;
  /** The key in the address. */
  peeked: string;
  onPeek: (key: string | undefined) => void;
  render: (item: T) => ReactNode;
}

const STEPS: Readonly<Partial<Record<string, 1 | -1>>> = { j: 1, k: -1 };

/** The details of a row of a `ResourceTable`. J and K walk through the list, Escape hides the details. */
export function ResourcePeek<T>({ items, keyOf, nameOf, isText, peeked, onPeek, render }: ResourcePeekProps<T>) {
  const isPlanOpen = useIsPlanOpen();
  const { dismiss } = useActions();
  const at = items.findIndex((item) => keyOf(item) === peeked);
  const item = items[at];
  const walk = (by: 1 | -1): void => {
    const next = items[at + by];
    if (next === undefined) return;
    dismiss();
    onPeek(keyOf(next));
  };
  const onKey = useEffectEvent((event: KeyboardEvent): void => {
    if (!isPlainKey(event)) return;
    const step = STEPS[event.key];
    if (step !== undefined) walk(step);
    else if (event.key === 'Escape' && !isPlanOpen) onPeek(undefined);
  });
  useEffect(() => {
    const listener = (event: KeyboardEvent): void => onKey(event);
    document.addEventListener('keydown', listener);
    return () => document.removeEventListener('keydown', listener);
  }, []);
  if (isPlanOpen) return null;
  const name = item === undefined ? (peeked.split('/').at(-1) ?? peeked) : nameOf(item);
  return (
    <PeekFrame
      name={name}
      isText={item !== undefined && isText?.(item) === true}
      at={at}
      count={items.length}
      onWalk={walk}
      hasPage={false}
      onClose={() => onPeek(undefined)}
    >
      {item === undefined ? <p role="status" className="hg-peek-gone">{t`${name} no longer exists.`}</p> : render(item)}
    </PeekFrame>
  );
}
