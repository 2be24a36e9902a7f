import { useState } from 'react';
import type { PaletteOption } from './palette-option.js';

/** How many options Page Up and Page Down move. */
const PAGE = 8;

interface Pinned {
  readonly text: string;
  readonly key: string;
  readonly label: string;
}

interface ActiveOption {
  readonly active: PaletteOption | undefined;
  /** The label of the active option, when it is not listed any more. */
  readonly lost: string | undefined;
  /** Returns whether it handled the key. */
  readonly onKey: (key: string) => boolean;
}

/**
 * The option that Enter chooses: the first one for a text, until a key moves it. It stays the same one while the fleet
 * changes. If it disappears, none is active, so that Enter never chooses another one instead.
 */
export function useActiveOption(options: readonly PaletteOption[], text: string): ActiveOption {
  const [last, setPinned] = useState<Pinned>();
  const pin = (option: PaletteOption | undefined): void => {
    if (option) setPinned({ text, key: option.key, label: option.label });
  };
  const pinned = last?.text === text ? last : undefined;
  if (!pinned && options.length > 0) pin(options[0]);
  const index = pinned ? options.findIndex(({ key }) => key === pinned.key) : -1;

  const onKey = (key: string): boolean => {
    const next = nextIndex(key, index, options.length);
    if (next === undefined) return false;
    pin(options[next]);
    return true;
  };
  return { active: options[index], lost: pinned && index < 0 ? pinned.label : undefined, onKey };
}

/** Up and Down go around the ends. */
function nextIndex(key: string, index: number, count: number): number | undefined {
  const last = count - 1;
  switch (key) {
    case 'ArrowDown':
      return index >= last ? 0 : index + 1;
    case 'ArrowUp':
      return index <= 0 ? last : index - 1;
    case 'PageDown':
      return Math.min(index + PAGE, last);
    case 'PageUp':
      return Math.max(index - PAGE, 0);
    case 'Home':
      return 0;
    case 'End':
      return last;
    default:
      return undefined;
  }
}
