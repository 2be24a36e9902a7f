import type { NodeDetailsView, NodeStatusView, PlanView } from '@headgate/api-contracts';
import { curlOf, sendRequest } from '../../../shared/actions/api-request.js';
import { PlanPanel } from '../../../shared/plans/plan-panel.js';
import { nodeRequest } from '../node-requests.js';

interface CordonPanelProps {
  node: NodeDetailsView;
  change: 'cordon' | 'uncordon';
  onClose: () => void;
  onDone: () => void;
}

/** The plan of a cordon, or of its end. */
export function CordonPanel({ node, change, onClose, onDone }: CordonPanelProps) {
  const { name, context } = node;
  const request = nodeRequest(node, change);
  const title = `${change === 'cordon' ? 'Cordon' : 'Uncordon'} ${name}`;
  return (
    <PlanPanel
      title={title}
      label={title}
      failure={`Couldn't ${change} ${name}`}
      place={context}
      preview={(signal) => sendRequest<PlanView>(request, { dryRun: true, signal })}
      run={() => sendRequest<NodeStatusView>(request)}
      curl={curlOf(request, location.origin)}
      onClose={onClose}
      onDone={onDone}
      outcome={() => ({
        title: change === 'cordon' ? `${name} takes no new instances` : `${name} takes new instances`,
      })}
    />
  );
}
