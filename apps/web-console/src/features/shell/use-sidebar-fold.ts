import { useCallback, useEffect, useState } from 'react';
import { useLocation } from 'wouter';
import { useRemembered } from '../../shared/storage/remembered.js';
import { useMedia } from '../../shared/ui/use-media.js';
import { useShortcut } from '../../shared/ui/use-shortcut.js';

const CONSOLE = /^\/vms\/[^/]+\/[^/]+\/[^/]+\/(?:console|serial)$/;

/**
 * Whether the sidebar shows only icons. In a wide window that is the user's choice, which is remembered. Windows below
 * 1,024 pixels and consoles start folded, and a choice there lasts until the user leaves them.
 * @returns the state, and a function that changes it, as the key `\` does
 */
export function useSidebarFold(): [isFolded: boolean, toggle: () => void] {
  const [path] = useLocation();
  const isNarrow = useMedia('(max-width: 1023.98px)');
  const startsFolded = isNarrow || CONSOLE.test(path);
  const [remembered, setRemembered] = useRemembered('sidebar-folded', false);
  const [isUnfolded, setIsUnfolded] = useState(false);
  useEffect(() => setIsUnfolded(false), [startsFolded]);
  const isFolded = startsFolded ? !isUnfolded : remembered;
  const toggle = useCallback(() => {
    if (startsFolded) setIsUnfolded(isFolded);
    else setRemembered(!isFolded);
  }, [startsFolded, isFolded, setRemembered]);
  useShortcut('\\', toggle);
  return [isFolded, toggle];
}
