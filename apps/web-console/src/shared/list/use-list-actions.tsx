import { t } from '@lingui/core/macro';
import { useCallback, useState, type ReactNode } from 'react';
import { useLocation } from 'wouter';
import { menuItems } from '../actions/menu-items.js';
import { likelyAction } from '../actions/registry.js';
import type { RowAction } from '../actions/row-actions.js';
import { useActionKeys } from '../actions/use-action-keys.js';
import { useActionRefusal } from '../actions/use-action-refusal.js';
import { useActions } from '../actions/use-actions.js';
import type { Instance } from '../instances/instance.js';
import { ContextMenu } from '../ui/context-menu.js';
import { useShortcut } from '../ui/use-shortcut.js';

interface Point {
  readonly x: number;
  readonly y: number;
}

interface ListActionsOptions<E extends Instance> {
  /** The row that keys act on. */
  active: E | undefined;
  consoleOf: (entry: E) => string;
  peeked: string | undefined;
  onPeek: (ref: string | undefined) => void;
}

interface ListActions<E> {
  readonly onAction: (entry: E, action: RowAction['name'], at: Point) => void;
  /** The open menu of a row; the caller renders it. */
  readonly menu: ReactNode;
}

/** The buttons, the menu and the keys of the rows. */
export function useListActions<E extends Instance>(options: ListActionsOptions<E>): ListActions<E> {
  const { active, consoleOf, peeked, onPeek } = options;
  const [open, setOpen] = useState<{ readonly entry: E; readonly at: Point }>();
  const { run } = useActions();
  const refusal = useActionRefusal();
  const [, navigate] = useLocation();
  const onAction = useCallback(
    (entry: E, action: RowAction['name'], at: Point): void => {
      if (action === 'menu') setOpen({ entry, at });
      else if (action === 'console') navigate(consoleOf(entry));
      else run({ id: likelyAction(entry).id, instance: entry });
    },
    [run, navigate, consoleOf],
  );
  useActionKeys(active, active && (() => navigate(consoleOf(active))));
  useShortcut('.', () => {
    const row = active && document.getElementById(`row-${active.ref}`);
    if (!row) return;
    const { left, bottom } = row.getBoundingClientRect();
    setOpen({ entry: active, at: { x: left, y: bottom } });
  });
  useShortcut('p', () => {
    if (peeked !== undefined) onPeek(undefined);
    else if (active) onPeek(active.ref);
  });
  const menu = open && (
    <ContextMenu
      label={t`Actions for ${open.entry.name}`}
      at={open.at}
      items={menuItems(open.entry, { run, refusal })}
      onClose={() => setOpen(undefined)}
    />
  );
  return { onAction, menu };
}
