import { useEffect, useSyncExternalStore } from 'react';

/** How many plans are open. While there is one, it has the panel, and the peek waits behind it. */
let plans = 0;
const listeners = new Set<() => void>();

function change(by: 1 | -1): void {
  plans += by;
  for (const listener of listeners) listener();
}

const subscribe = (listener: () => void): (() => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

/** Takes the panel for a plan while the component is shown. */
export function usePanelForPlan(): void {
  useEffect(() => {
    change(1);
    return () => change(-1);
  }, []);
}

/** Whether a plan has the panel. */
export const useIsPlanOpen = (): boolean => useSyncExternalStore(subscribe, () => plans > 0);
