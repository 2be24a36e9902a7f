import { t } from '@lingui/core/macro';
import type { VmView } from '@headgate/api-contracts';
import { Link } from 'wouter';
import { busyReason } from '../../../shared/instances/busy.js';
import { instanceState } from '../../../shared/instances/instance-state.js';
import { nodePath } from '../../../shared/location/paths.js';
import { contextNamed, useCapabilities } from '../../../shared/queries/use-capabilities.js';
import { readOnlyReason, useWhoami } from '../../../shared/queries/use-whoami.js';
import { useProgresses } from '../../../shared/tasks/use-progress.js';
import { Alert, type AlertVariant } from '../../../shared/ui/alert.js';
import { Copyable } from '../../../shared/ui/copy.js';
import { statusCode, type StatusWording } from '../../../shared/ui/status-tone.js';
import { Timestamp } from '../../../shared/ui/timestamp.js';
import { ActivityCard } from './activity-card.js';
import { ExportCard } from './export-card.js';
import { FactCard } from './fact-card.js';
import { FolderEditor } from './folder-editor.js';
import { GuestCard } from './guest-card.js';
import { HardwareCard } from './hardware-card.js';
import { MoveCard } from './move-dialog.js';
import { RunningTask } from './running-task.js';
import { ScreenCard } from './screen-card.js';
import { TagEditor } from './tag-editor.js';
import { UsageSection } from './usage-section.js';
import { Data } from '../../../shared/ui/data.js';
import { ServiceText } from '../../../shared/ui/service-text.js';

/** A VM at a glance: its screen, its usage with what happened, its guest, its hardware and its place. */
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
          <ServiceText>{vm.reason}</ServiceText>{' '}
          {code !== undefined && (
            <small className="hg-api-code" translate="no">
              {code}
            </small>
          )}
        </Alert>
      )}
      {vm.restartRequired && (
        <Alert variant="info" title={t`Restart required`} className="hg-gap-below">
          {t`Changes to the hardware take effect after the next restart.`}
        </Alert>
      )}
      {vm.volatile && (
        <Alert variant="warning" title={t`Volatile`} className="hg-gap-below">
          {t`Changes to its boot disk are lost at power-off, because it runs from a container disk.`}
        </Alert>
      )}
      <div className="hg-overview">
        <div className="hg-overview-column">
          <ScreenCard key={vm.ref} vm={vm} />
          <GuestCard vm={vm} />
          <section className="hg-card" aria-label={t`Tags`}>
            <h2>{t`Tags`}</h2>
            <TagEditor vm={vm} refusal={readOnly} />
          </section>
        </div>
        <UsageSection vm={vm} />
        <div className="hg-overview-column">
          <HardwareCard vm={vm} />
          <FactCard
            title={t`Place`}
            facts={{
              [t`Node`]: vm.node ? (
                <Link href={nodePath(vm.context, vm.node)} translate="no">
                  {vm.node}
                </Link>
              ) : (
                t`None (not running)`
              ),
              [t`Context`]: <Data>{label === undefined ? vm.context : `${vm.context} (${label})`}</Data>,
              [t`Namespace`]: <Data>{vm.namespace}</Data>,
              [t`Live migration`]: vm.liveMigratable ? t`Supported` : t`Not supported`,
            }}
          />
          <ActivityCard vm={vm} />
        </div>
      </div>
      <div className="hg-cards hg-overview-more">
        <section className="hg-card" aria-label={t`Folder`}>
          <h2>{t`Folder`}</h2>
          <FolderEditor vm={vm} refusal={readOnly} />
        </section>
        <FactCard
          title={t`About`}
          facts={{
            [t`Created`]: vm.createdAt ? <Timestamp at={vm.createdAt} /> : t`Unknown`,
            [t`Deletion protection`]: vm.protected ? t`On` : t`Off`,
            [t`Template`]: vm.isTemplate ? t`Yes` : t`No`,
            [t`Reference`]: <Copyable text={vm.ref} what={t`reference`} />,
          }}
        />
        <ExportCard
          vm={vm}
          refusal={readOnly ?? busyReason(vm, 'copy')}
          context={contextNamed(capabilities, vm.context)}
        />
        <MoveCard vm={vm} refusal={readOnly ?? busyReason(vm)} />
      </div>
    </div>
  );
}

/** Work in progress and waiting have reasons as well, and are no errors. */
const reasonVariant = ({ tone }: StatusWording): AlertVariant =>
  tone === 'progress' ? 'info' : tone === 'warning' ? 'warning' : 'danger';
