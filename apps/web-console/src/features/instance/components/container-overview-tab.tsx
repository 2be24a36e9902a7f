import { t } from '@lingui/core/macro';
import type { ContainerView } from '@headgate/api-contracts';
import { Link } from 'wouter';
import { busyReason } from '../../../shared/instances/busy.js';
import { instanceState } from '../../../shared/instances/instance-state.js';
import { nodePath } from '../../../shared/location/paths.js';
import { readableQuantity } from '../../../shared/quantity/quantity.js';
import { contextNamed, useCapabilities } from '../../../shared/queries/use-capabilities.js';
import { readOnlyReason, useWhoami } from '../../../shared/queries/use-whoami.js';
import { Alert } from '../../../shared/ui/alert.js';
import { Copyable } from '../../../shared/ui/copy.js';
import { Timestamp } from '../../../shared/ui/timestamp.js';
import { ActivityCard } from './activity-card.js';
import { FactCard } from './fact-card.js';
import { FolderEditor } from './folder-editor.js';
import { MoveCard } from './move-dialog.js';
import { RunningTask } from './running-task.js';
import { TagEditor } from './tag-editor.js';
import { UsageSection } from './usage-section.js';
import { Data } from '../../../shared/ui/data.js';
import { ServiceText } from '../../../shared/ui/service-text.js';

/** A container at a glance: its usage with the events of its time, its size, its place and its tags. */
export function ContainerOverviewTab({ ct }: { ct: ContainerView }) {
  const { data: whoami } = useWhoami();
  const { data: capabilities } = useCapabilities();
  const readOnly = readOnlyReason(whoami);
  const context = contextNamed(capabilities, ct.context);
  const label = context?.label;
  return (
    <div className="hg-page">
      <RunningTask subject={ct.ref} />
      {ct.reason && (
        <Alert variant="danger" title={instanceState(ct).words} className="hg-gap-below">
          <ServiceText>{ct.reason}</ServiceText>
        </Alert>
      )}
      <div className="hg-overview">
        <div className="hg-overview-column">
          <FactCard
            title={t`Container`}
            facts={{
              [t`Image`]: <Copyable text={ct.image} what={t`image`} />,
              CPUs: ct.cpu,
              [t`Memory`]: readableQuantity(ct.mem),
              [t`Privileged`]: ct.privileged ? t`Yes` : t`No`,
            }}
          />
          <section className="hg-card" aria-label={t`Tags`}>
            <h2>{t`Tags`}</h2>
            <TagEditor vm={ct} refusal={readOnly} />
          </section>
        </div>
        <UsageSection vm={ct} />
        <div className="hg-overview-column">
          <FactCard
            title={t`Place`}
            facts={{
              [t`Node`]: ct.node ? (
                <Link href={nodePath(ct.context, ct.node)} translate="no">
                  {ct.node}
                </Link>
              ) : (
                t`None (not running)`
              ),
              [t`Context`]: <Data>{label === undefined ? ct.context : `${ct.context} (${label})`}</Data>,
              [t`Namespace`]: <Data>{ct.namespace}</Data>,
            }}
          />
          <ActivityCard vm={ct} />
        </div>
      </div>
      <div className="hg-cards hg-overview-more">
        <section className="hg-card" aria-label={t`Folder`}>
          <h2>{t`Folder`}</h2>
          <FolderEditor vm={ct} refusal={readOnly} />
        </section>
        {context?.containerAbilities['containerTransfer'] === true && (
          <MoveCard vm={ct} refusal={readOnly ?? busyReason(ct)} />
        )}
        <FactCard
          title={t({ message: 'About', context: 'container' })}
          facts={{
            [t`Created`]: ct.createdAt ? <Timestamp at={ct.createdAt} /> : t`Unknown`,
            [t`Reference`]: <Copyable text={ct.ref} what={t`reference`} />,
          }}
        />
      </div>
    </div>
  );
}
