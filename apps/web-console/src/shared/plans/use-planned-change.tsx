import { useState, type ReactNode } from 'react';
import { PlannedChangePanel, type ConfirmedRequest } from './planned-change-panel.js';

/**
 * The changes of a page that are confirmed with their plan.
 * @param failure the title of the message when one fails
 * @returns functions that ask for a change and drop it, and the panel while the user decides
 */
export function usePlannedChange(
  failure: string,
  onChanged: () => void,
): {
  readonly ask: (change: ConfirmedRequest) => void;
  readonly cancel: () => void;
  readonly panel: ReactNode;
} {
  const [change, ask] = useState<ConfirmedRequest>();
  const cancel = (): void => ask(undefined);
  const panel = change && (
    <PlannedChangePanel change={change} failure={failure} onClose={cancel} onChanged={onChanged} />
  );
  return { ask, cancel, panel };
}
