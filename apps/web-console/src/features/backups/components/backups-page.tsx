import { t } from '@lingui/core/macro';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import { BACKUPS_KEY, useBackupTargets } from '../../../shared/backups/backup-requests.js';
import { paths } from '../../../shared/location/paths.js';
import { PAGE_FOCUS } from '../../../shared/location/use-page-focus.js';
import { isAdministrator, useWhoami } from '../../../shared/queries/use-whoami.js';
import { ListStates } from '../../../shared/ui/list-states.js';
import { ReasonedButton } from '../../../shared/ui/reasoned-button.js';
import { usePageTitle } from '../../../shared/ui/use-page-title.js';
import { BackUpNow } from './back-up-now.js';
import { PointsSection } from './points-section.js';
import { TargetForm } from './target-form.js';
import { TargetTable } from './target-table.js';

/** The targets of backups, the backups in one of them, and a form to add a target. */
export function BackupsPage() {
  usePageTitle(t`Backups`);
  const query = useBackupTargets();
  const { data: whoami } = useWhoami();
  const [chosen, setChosen] = useState<string>();
  const [isBackingUp, setIsBackingUp] = useState(false);
  const queries = useQueryClient();
  const reload = (): void => void queries.invalidateQueries({ queryKey: BACKUPS_KEY });
  const refusal = isAdministrator(whoami) ? undefined : t`Only administrators can do this.`;
  const targets = query.data ?? [];
  const shown = targets.find(({ id }) => id === chosen) ?? targets[0];

  return (
    <div className="hg-page">
      <div className="hg-toolbar hg-gap-below">
        <h1 className="hg-page-title" {...PAGE_FOCUS}>
          {t`Backups`}
        </h1>
        <span className="hg-spring" />
        <ReasonedButton
          reason={targets.length === 0 ? t`Add a backup target first.` : undefined}
          onClick={() => setIsBackingUp(true)}
        >
          {t`Back up now…`}
        </ReasonedButton>
      </div>
      <p className="hg-note hg-gap-below">
        {t`A target is a repository of backups, encrypted with its password.`}{' '}
        <Link href={paths.schedules}>{t`Schedules back VMs up at planned times.`}</Link>
      </p>
      <ListStates
        query={query}
        failure={t`Couldn't load the backup targets`}
        loading={t`Loading the backup targets`}
        empty={t`No backup targets yet`}
      >
        {(all) => (
          <TargetTable
            targets={all}
            shown={shown?.id}
            refusal={refusal}
            canReadAll={whoami !== undefined && whoami.roles === undefined}
            onShow={setChosen}
            onChanged={reload}
          />
        )}
      </ListStates>
      {shown && <PointsSection key={shown.id} target={shown} refusal={refusal} onChanged={reload} />}
      <TargetForm refusal={refusal} onAdded={reload} />
      {isBackingUp && <BackUpNow targets={targets} onClose={() => setIsBackingUp(false)} />}
    </div>
  );
}
