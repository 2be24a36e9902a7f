import { t } from '@lingui/core/macro';
import type { PlanView, VmView } from '@headgate/api-contracts';
import { useQuery } from '@tanstack/react-query';
import { instanceRequest, sendRequest } from '../../../shared/actions/api-request.js';
import { messageOf } from '../../../shared/api/api-error.js';
import { readableEstimate } from '../../../shared/quantity/duration.js';
import { readableSizes } from '../../../shared/quantity/quantity.js';

interface MigrationPromiseProps {
  vm: VmView;
  /** The node or context that the VM is held over. */
  target: string;
}

/** What the service promises of a migration that the user is about to choose, from its dry run. */
export function MigrationPromise({ vm, target }: MigrationPromiseProps) {
  const plan = useQuery({
    queryKey: ['migration-promise', vm.ref, vm.node, target],
    queryFn: ({ signal }) =>
      sendRequest<PlanView>(instanceRequest('vms', vm, 'migrate', { body: { targetNode: target } }), {
        dryRun: true,
        signal,
      }),
    staleTime: 10_000,
  });
  const refusal = plan.data?.refusals[0];
  return (
    <div className="hg-card hg-promise" role="status">
      <p className="hg-promise-title">
        <b>{t`Migrate ${vm.name} to ${target}`}</b>
        {plan.data && <span className="hg-peek-pending">{refusal ? t`refused` : t`possible`}</span>}
      </p>
      {plan.isPending && <p className="hg-note">{t`Checking`}</p>}
      {plan.error && <p className="hg-status--danger">{messageOf(plan.error)}</p>}
      {refusal && <p className="hg-status--danger">{readableSizes(refusal.reason)}</p>}
      {plan.data && !refusal && (
        <p>
          {plan.data.seconds
            ? t`Takes ${readableEstimate(plan.data.seconds)}. The guest keeps running.`
            : t`No migration of this kind has been measured yet. The guest keeps running.`}
        </p>
      )}
      <p className="hg-note">{t`Drop to see the plan. Nothing moves yet.`}</p>
    </div>
  );
}
