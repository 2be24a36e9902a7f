import { t } from '@lingui/core/macro';
import type { VmView } from '@headgate/api-contracts';
import { Link } from 'wouter';
import { SplitPower } from '../../../shared/actions/components/split-power.js';
import { actionOf } from '../../../shared/actions/registry.js';
import { useActionRefusal } from '../../../shared/actions/use-action-refusal.js';
import { useActions } from '../../../shared/actions/use-actions.js';
import { PeekState } from '../../../shared/instances/peek-state.js';
import { paths } from '../../../shared/location/paths.js';
import { ReasonedButton } from '../../../shared/ui/reasoned-button.js';
import { useSettledBurst } from '../../../shared/ui/use-settled.js';
import { PeekActivity } from './peek-activity.js';
import { PeekGraphs } from './peek-graphs.js';
import { PeekHardware } from './peek-hardware.js';

/** While the user walks through the list, the parts that need requests are not loaded until they rest this long. */
const REST_MS = 120;

/** The details of a VM next to the list: at once from its entry, then the parts that need requests, each on its own. */
export function InstancePeek({ vm }: { vm: VmView }) {
  const refusal = useActionRefusal();
  const { run, running } = useActions();
  const isSettled = useSettledBurst(vm.ref, REST_MS, '') === vm.ref;
  return (
    <>
      <PeekState instance={vm} />
      <div className="hg-peek-actions">
        <SplitPower instance={vm} />
        <Link href={paths.vm(vm, 'console')} className="hg-button hg-button--secondary hg-button--small">
          {t`Console`}
        </Link>
        <ReasonedButton
          isSmall
          variant="secondary"
          reason={refusal('snapshot', vm)}
          isLoading={running?.id === 'snapshot' && running.instance.ref === vm.ref}
          onClick={() => run({ id: 'snapshot', instance: vm })}
        >
          {actionOf(vm, 'snapshot').label}
        </ReasonedButton>
      </div>
      {vm.running && <PeekGraphs key={`graphs ${vm.ref}`} vm={vm} isWanted={isSettled} />}
      <PeekHardware key={`hardware ${vm.ref}`} vm={vm} isWanted={isSettled} />
      <PeekActivity key={`activity ${vm.ref}`} vm={vm} isWanted={isSettled} />
    </>
  );
}
