import { t } from '@lingui/core/macro';
import type { NodeDetailsView } from '@headgate/api-contracts';
import { ReasonedButton } from '../../../shared/ui/reasoned-button.js';
import type { NodeChange } from '../node-requests.js';
import { useNodeRefusal } from '../use-node-refusal.js';

interface NodeActionsProps {
  node: NodeDetailsView;
  onChoose: (change: NodeChange) => void;
}

/** The changes of a node. Each of them opens its plan. */
export function NodeActions({ node, onChoose }: NodeActionsProps) {
  const reason = useNodeRefusal(node);
  const { cordoned, name } = node;
  const change: NodeChange = cordoned ? 'uncordon' : 'cordon';
  return (
    <div className="hg-peek-actions">
      <ReasonedButton
        isSmall
        variant="secondary"
        reason={reason}
        aria-label={cordoned ? t`Uncordon ${name}` : t`Cordon ${name}`}
        onClick={() => onChoose(change)}
      >
        {cordoned ? t`Uncordon…` : t`Cordon…`}
      </ReasonedButton>
      <ReasonedButton
        isSmall
        variant="secondary"
        reason={reason}
        aria-label={t`Drain ${name}`}
        onClick={() => onChoose('drain')}
      >
        {t`Drain…`}
      </ReasonedButton>
    </div>
  );
}
