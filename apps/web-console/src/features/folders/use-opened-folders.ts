import { useEffect, useEffectEvent, useMemo } from 'react';
import { parentOf } from '../../shared/names/folder-name-rule.js';
import { useRemembered } from '../../shared/storage/remembered.js';

const NONE: readonly string[] = [];

/**
 * The open folders, which this browser remembers. The folders around the one in the address open, so that a link shows
 * it.
 */
export function useOpenedFolders(selected: string | undefined): [ReadonlySet<string>, (id: string) => void] {
  const [opened, setOpened] = useRemembered('folders-open', NONE);
  const reveal = useEffectEvent((path: string) => {
    const closed = around(path).filter((one) => !opened.includes(one));
    if (closed.length > 0) setOpened([...opened, ...closed]);
  });
  useEffect(() => {
    if (selected !== undefined) reveal(selected);
  }, [selected]);
  const toggle = (id: string): void =>
    setOpened(opened.includes(id) ? opened.filter((one) => one !== id) : [...opened, id]);
  return [useMemo(() => new Set(opened), [opened]), toggle];
}

/** The paths of the folders around one. */
function around(path: string): string[] {
  const parent = parentOf(path);
  return parent === '' ? [] : [...around(parent), parent];
}
