import type { VmView } from '@headgate/api-contracts';
import { Fragment, type ReactNode } from 'react';
import { Link } from 'wouter';
import { busyReason } from '../../../shared/instances/busy.js';
import { instanceState } from '../../../shared/instances/instance-state.js';
import { InstanceStatus } from '../../../shared/instances/instance-status.js';
import { nodePath } from '../../../shared/location/paths.js';
import { readableQuantity } from '../../../shared/quantity/quantity.js';
import { contextNamed, useCapabilities } from '../../../shared/queries/use-capabilities.js';
import { readOnlyReason, useWhoami } from '../../../shared/queries/use-whoami.js';
import { useProgresses } from '../../../shared/tasks/use-progress.js';
import { Alert, type AlertVariant } from '../../../shared/ui/alert.js';
import { Copyable } from '../../../shared/ui/copy.js';
import { statusCode, type StatusWording } from '../../../shared/ui/status-tone.js';
import { Timestamp } from '../../../shared/ui/timestamp.js';
import { ExportCard } from './export-card.js';
import { FolderEditor } from './folder-editor.js';
import { MoveCard } from './move-dialog.js';
import { RunningTask } from './running-task.js';
import { TagEditor } from './tag-editor.js';

/** All properties of a VM that the list knows. */
export function OverviewTab({ vm }: { vm: VmView }) {
  const { data: whoami } = useWhoami();
  const { data: capabilities } = useCapabilities();
  const readOnly = readOnlyReason(whoami);
  const progress = useProgresses()[vm.ref];
  const state = instanceState(vm, progress);
  const code = statusCode(vm.status);
  const label = contextNamed(capabilities, vm.context)?.label;
  return (
    <div className="hg-page">
      <RunningTask subject={vm.ref} />
      {vm.reason && (
        <Alert variant={reasonVariant(state)} title={state.words} className="hg-gap-below">
          {vm.reason} {code !== undefined && <small className="hg-api-code">{code}</small>}
        </Alert>
      )}
      {vm.restartRequired && (
        <Alert variant="info" title="Restart required" className="hg-gap-below">
          Changes to the hardware take effect after the next restart.
        </Alert>
      )}
      {vm.volatile && (
        <Alert variant="warning" title="Volatile" className="hg-gap-below">
          Changes to its boot disk are lost at power-off, because it runs from a container disk.
        </Alert>
      )}
      <div className="hg-cards">
        <Facts
          title="Guest"
          facts={{
            Status: <InstanceStatus instance={vm} progress={progress} />,
            Ready: yesNo(vm.ready),
            'IP address': vm.ip ? (
              <Copyable text={vm.ip} what="IP address" />
            ) : vm.running ? (
              'Not known yet'
            ) : (
              'None (not running)'
            ),
            'Guest agent': vm.agentConnected ? 'Connected' : 'Not connected',
          }}
        />
        <Facts
          title="Hardware"
          facts={{
            CPUs: vm.cpu,
            Memory: readableQuantity(vm.mem),
            'Boot disk': readableQuantity(vm.disk),
          }}
        />
        <Facts
          title="Location"
          facts={{
            Context: label === undefined ? vm.context : `${vm.context} (${label})`,
            Namespace: vm.namespace,
            Node: vm.node ? <Link href={nodePath(vm.context, vm.node)}>{vm.node}</Link> : 'None (not running)',
            'Live migration': vm.liveMigratable ? 'Supported' : 'Not supported',
          }}
        />
        <Facts
          title="About"
          facts={{
            Created: vm.createdAt ? <Timestamp at={vm.createdAt} /> : 'Unknown',
            'Deletion protection': vm.protected ? 'On' : 'Off',
            Template: yesNo(vm.isTemplate),
            Reference: <Copyable text={vm.ref} what="reference" />,
          }}
        />
        <section className="hg-card" aria-label="Tags">
          <h2>Tags</h2>
          <TagEditor vm={vm} refusal={readOnly} />
        </section>
        <ExportCard
          vm={vm}
          refusal={readOnly ?? busyReason(vm, 'copy')}
          context={contextNamed(capabilities, vm.context)}
        />
        <MoveCard vm={vm} refusal={readOnly ?? busyReason(vm)} />
        <section className="hg-card" aria-label="Folder">
          <h2>Folder</h2>
          <FolderEditor vm={vm} refusal={readOnly} />
        </section>
      </div>
    </div>
  );
}

/** Work in progress and waiting have reasons as well, and are no errors. */
const reasonVariant = ({ tone }: StatusWording): AlertVariant =>
  tone === 'progress' ? 'info' : tone === 'warning' ? 'warning' : 'danger';

const yesNo = (value: boolean): string => (value ? 'Yes' : 'No');

function Facts({ title, facts }: { title: string; facts: Readonly<Record<string, ReactNode>> }) {
  return (
    <section className="hg-card" aria-label={title}>
      <h2>{title}</h2>
      <dl className="hg-facts">
        {Object.entries(facts).map(([term, value]) => (
          <Fragment key={term}>
            <dt>{term}</dt>
            <dd>{value}</dd>
          </Fragment>
        ))}
      </dl>
    </section>
  );
}
