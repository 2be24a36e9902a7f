import { t } from '@lingui/core/macro';
import type { NodeDetailsView, NodeStatusView, PlanView } from '@headgate/api-contracts';
import { Data } from '../../../shared/ui/data.js';
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
  const isCordon = change === 'cordon';
  const title = isCordon ? t`Cordon ${name}` : t`Uncordon ${name}`;
  return (
    <PlanPanel
      title={title}
      label={title}
      failure={isCordon ? t`Couldn't cordon ${name}` : t`Couldn't uncordon ${name}`}
      place={<Data>{context}</Data>}
      preview={(signal) => sendRequest<PlanView>(request, { dryRun: true, signal })}
      run={() => sendRequest<NodeStatusView>(request)}
      curl={curlOf(request, location.origin)}
      onClose={onClose}
      onDone={onDone}
      outcome={() => ({
        title: isCordon ? t`${name} takes no new instances` : t`${name} takes new instances`,
      })}
    />
  );
}
