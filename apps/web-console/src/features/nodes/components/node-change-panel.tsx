import { useQueryClient } from '@tanstack/react-query';
import { CONTEXT_KEYS } from '../../../shared/queries/stream-queries.js';
import type { ChosenChange } from '../node-requests.js';
import { CordonPanel } from './cordon-panel.js';
import { DrainPanel } from './drain-panel.js';

/** The plan of the change that the user has chosen. The nodes are read again once it has begun. */
export function NodeChangePanel({ chosen: { change, node }, onClose }: { chosen: ChosenChange; onClose: () => void }) {
  const queries = useQueryClient();
  const refresh = (): void => {
    for (const queryKey of [CONTEXT_KEYS.nodeDetails, CONTEXT_KEYS.nodes]) void queries.invalidateQueries({ queryKey });
  };
  return change === 'drain' ? (
    <DrainPanel node={node} onClose={onClose} onDone={refresh} />
  ) : (
    <CordonPanel node={node} change={change} onClose={onClose} onDone={refresh} />
  );
}
