import { plural, t } from '@lingui/core/macro';
import type { BackupTargetView } from '@headgate/api-contracts';
import { useState } from 'react';
import { useBackupPoints } from '../../../shared/backups/backup-requests.js';
import { PointsTable } from '../../../shared/backups/components/points-table.js';
import { formatLocale } from '../../../shared/texts/formats.js';
import { Button } from '../../../shared/ui/button.js';
import { SearchInput } from '../../../shared/ui/inputs.js';
import { ListStates } from '../../../shared/ui/list-states.js';
import { searchPoints, SHOWN_POINTS } from '../point-search.js';

interface PointsSectionProps {
  target: BackupTargetView;
  refusal: string | undefined;
  onChanged: () => void;
}

/** The backups in one target, with a search by VM, time and state of the disks. */
export function PointsSection({ target, refusal, onChanged }: PointsSectionProps) {
  const query = useBackupPoints(target.id);
  const [search, setSearch] = useState('');
  const [limit, setLimit] = useState(SHOWN_POINTS);
  const { name } = target;
  const dates = new Intl.DateTimeFormat(formatLocale(), { dateStyle: 'medium', timeStyle: 'short' });
  return (
    <section aria-label={t`Backups in ${name}`} className="hg-section">
      <h2>{t`Backups in ${name}`}</h2>
      <ListStates
        query={query}
        failure={t`Couldn't load the backups in ${name}`}
        loading={t`Loading the backups`}
        empty={t`No backups yet`}
      >
        {(points) => {
          const found = searchPoints(points, search, (time) => dates.format(new Date(time)));
          return (
            <>
              <div className="hg-toolbar hg-toolbar--fields hg-gap-below">
                <SearchInput
                  aria-label={t`Search the backups`}
                  placeholder={t`VM, day or state`}
                  value={search}
                  onChange={setSearch}
                />
                <span className="hg-note" role="status">
                  {plural(found.length, { one: '# backup', other: '# backups' })}
                </span>
              </div>
              {found.length === 0 ? (
                <p className="hg-note">
                  {t`No backup matches.`}{' '}
                  <Button variant="link" onClick={() => setSearch('')}>
                    {t`Clear search`}
                  </Button>
                </p>
              ) : (
                <PointsTable
                  points={found.slice(0, limit).map((point) => ({ ...point, target }))}
                  shows="vm"
                  refusal={refusal}
                  onChanged={onChanged}
                />
              )}
              {found.length > limit && (
                <Button variant="secondary" onClick={() => setLimit(limit + SHOWN_POINTS)}>
                  {t`Show more`}
                </Button>
              )}
            </>
          );
        }}
      </ListStates>
    </section>
  );
}
