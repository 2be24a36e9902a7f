import { t } from '@lingui/core/macro';
import { useQueryClient } from '@tanstack/react-query';
import type { VmView } from '@headgate/api-contracts';
import { useState } from 'react';
import { Link } from 'wouter';
import { planState } from '../../../shared/actions/registry.js';
import { BACKUPS_KEY, useBackupTargets, usePointsOf } from '../../../shared/backups/backup-requests.js';
import { BackUpPanel } from '../../../shared/backups/components/back-up-panel.js';
import { PointsTable } from '../../../shared/backups/components/points-table.js';
import { busyReason } from '../../../shared/instances/busy.js';
import { paths } from '../../../shared/location/paths.js';
import { contextNamed, unavailableReason, useCapabilities } from '../../../shared/queries/use-capabilities.js';
import { isAdministrator, useWhoami } from '../../../shared/queries/use-whoami.js';
import { ErrorAlert } from '../../../shared/ui/error-alert.js';
import { ListStates } from '../../../shared/ui/list-states.js';
import { Skeleton } from '../../../shared/ui/loading.js';
import { ReasonedButton } from '../../../shared/ui/reasoned-button.js';

/** The backups of a VM in all targets. */
export function BackupsSection({ vm, refusal }: { vm: VmView; refusal: string | undefined }) {
  const { data: capabilities } = useCapabilities();
  const unavailable = unavailableReason(contextNamed(capabilities, vm.context), 'backupSource');
  return (
    <section aria-label={t`Backups`} className="hg-section">
      <h2>{t`Backups`}</h2>
      <p className="hg-note">
        {t`A backup has all disks of the VM and its settings, outside of its context. The targets are on their own page.`}{' '}
        <Link href={paths.backups}>{t`Backup targets`}</Link>
      </p>
      {unavailable === undefined ? (
        <Backups vm={vm} refusal={refusal} />
      ) : (
        <p className="hg-note" lang="en">
          {unavailable}
        </p>
      )}
    </section>
  );
}

function Backups({ vm, refusal }: { vm: VmView; refusal: string | undefined }) {
  const query = useBackupTargets();
  const { data: whoami } = useWhoami();
  const [isPlanned, setIsPlanned] = useState(false);
  const queries = useQueryClient();
  const targets = query.data ?? [];
  const results = usePointsOf(
    vm.ref,
    targets.map(({ id }) => id),
  );
  const failed = targets.flatMap((target, index) => {
    const error = results[index]?.error;
    return error ? [{ target, error }] : [];
  });
  const points = targets
    .flatMap((target, index) => (results[index]?.data ?? []).map((point) => ({ ...point, target })))
    .sort((a, b) => Date.parse(b.time) - Date.parse(a.time));
  const isLoading = results.some(({ isPending }) => isPending);
  return (
    <ListStates
      query={query}
      failure={t`Couldn't load the backup targets`}
      loading={t`Loading the backups`}
      empty={t`There is no backup target yet. Administrators add them.`}
    >
      {() => (
        <>
          <div className="hg-toolbar hg-gap-below">
            <ReasonedButton
              variant="secondary"
              reason={refusal ?? busyReason(vm, 'guest')}
              onClick={() => setIsPlanned(true)}
            >
              {t`Back up now…`}
            </ReasonedButton>
          </div>
          {failed.map(({ target: { id, name }, error }) => (
            <ErrorAlert
              key={id}
              title={t`Couldn't load the backups in ${name}`}
              error={error}
              onRetry={() => void queries.invalidateQueries({ queryKey: BACKUPS_KEY })}
            />
          ))}
          {isLoading && <Skeleton height="6rem" label={t`Loading the backups`} />}
          {!isLoading && failed.length === 0 && points.length === 0 && <p className="hg-note">{t`No backups yet`}</p>}
          {points.length > 0 && (
            <PointsTable
              points={points}
              shows="target"
              refusal={isAdministrator(whoami) ? undefined : t`Only administrators can do this.`}
              onChanged={() => void queries.invalidateQueries({ queryKey: BACKUPS_KEY })}
            />
          )}
          {isPlanned && (
            <BackUpPanel
              vm={vm}
              targets={targets}
              subject={{ name: vm.name, state: planState(vm) }}
              onClose={() => setIsPlanned(false)}
            />
          )}
        </>
      )}
    </ListStates>
  );
}
