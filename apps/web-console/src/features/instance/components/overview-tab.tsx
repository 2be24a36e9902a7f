import { Alert } from '@patternfly/react-core';
import type { VmView } from '@headgate/api-contracts';
import { Fragment, type ReactNode } from 'react';
import { Link } from 'wouter';
import { readableQuantity } from '../../../shared/quantity/quantity.js';
import { readOnlyReason, useWhoami } from '../../../shared/queries/use-whoami.js';
import { StatusLabel } from '../../../shared/ui/status-label.js';
import { Copyable } from '../../../shared/ui/copyable.js';
import { Moment } from '../../../shared/ui/moment.js';
import { nodePlace } from '../../../shared/location/places.js';
import { RunningTask } from './running-task.js';
import { TagEditor } from './tag-editor.js';

/** Everything the service tells about an instance. */
export function OverviewTab({ vm }: { vm: VmView }) {
  const { data: whoami } = useWhoami();
  return (
    <div className="hg-page">
      <RunningTask subject={vm.ref} />
      {vm.reason && (
        <Alert isInline variant="danger" title={vm.status} className="hg-gap-below">
          {vm.reason}
        </Alert>
      )}
      {vm.restartRequired && (
        <Alert isInline variant="info" title="A restart is needed" className="hg-gap-below">
          A change of its hardware takes effect when it starts again.
        </Alert>
      )}
      <div className="hg-cards">
        <Facts
          title="Guest"
          facts={{
            Status: <StatusLabel status={vm.status} reason={vm.reason} stale={vm.stale} />,
            Ready: yesNo(vm.ready),
            IP: vm.ip ? (
              <Copyable text={vm.ip} what="the IP" />
            ) : vm.running ? (
              'not known yet'
            ) : (
              'none: it does not run'
            ),
            'Guest agent': vm.agentConnected ? 'connected' : 'not connected',
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
          title="Place"
          facts={{
            Context: `${vm.context} (${vm.backend})`,
            Namespace: vm.namespace,
            Node: vm.node ? <Link href={nodePlace(vm.context, vm.node)}>{vm.node}</Link> : 'none: it does not run',
            Folder: vm.folder ?? 'none',
            'Live-migratable': yesNo(vm.liveMigratable),
          }}
        />
        <Facts
          title="About"
          facts={{
            Created: vm.createdAt ? <Moment at={vm.createdAt} /> : 'not known',
            Protected: vm.protected ? 'yes, against deletion' : 'no',
            Template: yesNo(vm.isTemplate),
            Reference: <Copyable text={vm.ref} what="the reference" />,
          }}
        />
        <section className="hg-card" aria-label="Tags">
          <h2>Tags</h2>
          <TagEditor vm={vm} refusal={readOnlyReason(whoami)} />
        </section>
      </div>
    </div>
  );
}

const yesNo = (value: boolean): string => (value ? 'yes' : 'no');

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
