import { t } from '@lingui/core/macro';
import type { NodeDetailsView } from '@headgate/api-contracts';
import { Link } from 'wouter';
import { useActionRefusal } from '../../../shared/actions/use-action-refusal.js';
import { useActions } from '../../../shared/actions/use-actions.js';
import { InstanceStatus } from '../../../shared/instances/instance-status.js';
import { isVm, type Instance } from '../../../shared/instances/instance.js';
import { PeekFacts } from '../../../shared/instances/peek-facts.js';
import { nodePath, pathOfRef } from '../../../shared/location/paths.js';
import { readableBytes } from '../../../shared/quantity/quantity.js';
import { UsageBar } from '../../../shared/resources/usage-bar.js';
import { Data } from '../../../shared/ui/data.js';
import { ReasonedButton } from '../../../shared/ui/reasoned-button.js';
import { StatusLabel } from '../../../shared/ui/status-label.js';
import type { NodeGuest } from '../node-guests.js';
import { cpuText, nodeState } from '../node-state.js';
import type { NodeChange } from '../node-requests.js';
import { freeMemory } from '../node-target.js';
import { NodeActions } from './node-actions.js';
import { NodeFailure } from './node-failure.js';
import { usageText } from './node-table.js';
import { readableNumber, readableDecimal } from '../../../shared/texts/formats.js';

/** How many instances the panel lists. */
const MOST = 20;

interface NodePeekProps {
  node: NodeDetailsView;
  guests: readonly NodeGuest[];
  onChoose: (change: NodeChange) => void;
}

/** The details of a node. */
export function NodePeek({ node, guests, onChoose }: NodePeekProps) {
  const { name, context, zone, roles, kubelet, arch, load, capacity } = node;
  const free = freeMemory(node);
  const more = guests.length - MOST;
  const version = [kubelet, arch].filter(Boolean).join(', ');
  const facts = {
    CPU: <UsageBar used={load.cpu} total={capacity.cpu} text={usageText(load.cpu, capacity.cpu, cpuText)} />,
    [t`Memory`]: (
      <UsageBar
        used={load.memoryBytes}
        total={capacity.memoryBytes}
        text={usageText(load.memoryBytes, capacity.memoryBytes, readableBytes)}
      />
    ),
    [t`Promised`]: promisedText(node),
    [t`Free`]: free === null ? undefined : t`${readableBytes(Math.max(0, free))} of memory`,
    [t`Zone`]: zone && <Data>{zone}</Data>,
    [t`Roles`]: roles && <Data>{roles.split(',').join(', ')}</Data>,
    [t`Version`]: version && <Data>{version}</Data>,
    [t`Context`]: <Data>{context}</Data>,
  };
  return (
    <>
      <p className="hg-peek-state">
        <StatusLabel wording={nodeState(node)} title={node.unschedulable} />
      </p>
      {node.unschedulable !== undefined && <p className="hg-note">{node.unschedulable}</p>}
      <NodeActions node={node} onChoose={onChoose} />
      <PeekFacts facts={facts} />
      <NodeFailure key={`${context}/${name}`} node={node} />
      <section className="hg-peek-activity" aria-label={t`Instances`}>
        <h3>
          {t`${readableNumber(guests.length)} run here`}
          <Link href={nodePath(context, name)}>{t`Show in the list`}</Link>
        </h3>
        <ul className="hg-node-guests">
          {guests.slice(0, MOST).map(({ instance, bytes }) => (
            <li key={instance.ref}>
              <InstanceStatus instance={instance} inRow />
              <Link href={pathOfRef(instance.ref)} className="hg-quiet-link" translate="no">
                {instance.name}
              </Link>
              <span className="hg-note">{readableBytes(bytes)}</span>
              {isVm(instance) && <MigrateButton vm={instance} />}
            </li>
          ))}
        </ul>
        {more > 0 && <p className="hg-note">{t`and ${readableNumber(more)} more`}</p>}
      </section>
    </>
  );
}

function MigrateButton({ vm }: { vm: Instance }) {
  const { run } = useActions();
  const refusal = useActionRefusal();
  return (
    <ReasonedButton
      isSmall
      variant="link"
      reason={refusal('migrate', vm)}
      aria-label={t`Migrate to… ${vm.name}`}
      onClick={() => run({ id: 'migrate', instance: vm })}
    >
      {t`Migrate to…`}
    </ReasonedButton>
  );
}

function promisedText({ promised, capacity }: NodeDetailsView): string {
  const cpus = (promised.cpu ?? 0) / 1000;
  const [all, memory] = [cpuText(promised.cpu ?? 0), readableBytes(promised.memoryBytes ?? 0)];
  if (!capacity.cpu) return t`${all}, ${memory} of memory`;
  const each = readableDecimal(Number((cpus / (capacity.cpu / 1000)).toFixed(1)));
  return t`${all} (${each} for each real one), ${memory} of memory`;
}
