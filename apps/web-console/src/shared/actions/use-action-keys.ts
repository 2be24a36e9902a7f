import type { Instance } from '../instances/instance.js';
import { useShortcut } from '../ui/use-shortcut.js';
import { actionsOf, likelyAction } from './registry.js';
import { useActions } from './use-actions.js';

/**
 * The keys of an instance: S for its most likely power action, R to restart, C for its console.
 * @param instance the row or the page that they act on
 */
export function useActionKeys(instance: Instance | undefined, openConsole: (() => void) | undefined): void {
  const { run } = useActions();
  useShortcut('s', () => instance && run({ id: likelyAction(instance).id, instance }));
  useShortcut('r', () => {
    const action = instance && actionsOf(instance).find(({ key }) => key === 'r');
    if (instance && action) run({ id: action.id, instance });
  });
  useShortcut('c', () => openConsole?.());
}
