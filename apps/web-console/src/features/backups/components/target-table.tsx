import { t } from '@lingui/core/macro';
import type { BackupTargetView } from '@headgate/api-contracts';
import { useState } from 'react';
import { removingTarget, useTargetState } from '../../../shared/backups/backup-requests.js';
import { targetWording } from '../../../shared/backups/backup-wording.js';
import { usePlannedChange } from '../../../shared/plans/use-planned-change.js';
import { readableBytes } from '../../../shared/quantity/quantity.js';
import { Button } from '../../../shared/ui/button.js';
import { Data } from '../../../shared/ui/data.js';
import { ReasonedButton } from '../../../shared/ui/reasoned-button.js';
import { ServiceText } from '../../../shared/ui/service-text.js';
import { StatusLabel } from '../../../shared/ui/status-label.js';
import { numeric, Table } from '../../../shared/ui/table.js';
import { Timestamp } from '../../../shared/ui/timestamp.js';
import { CheckPanel } from './check-panel.js';
import { CleanPanel } from './clean-panel.js';

interface TargetTableProps {
  targets: readonly BackupTargetView[];
  /** The ID of the target whose backups are shown. */
  shown: string | undefined;
  refusal: string | undefined;
  /** Whether the user may see the states, which say something about all VMs. */
  canReadAll: boolean;
  onShow: (id: string) => void;
  onChanged: () => void;
}

type Panel = { readonly of: 'check' | 'clean'; readonly target: BackupTargetView };

/** The targets with their states, and the actions on each of them. */
export function TargetTable({ targets, shown, refusal, canReadAll, onShow, onChanged }: TargetTableProps) {
  const { ask, cancel, panel } = usePlannedChange(t`Couldn't remove the backup target`, onChanged);
  const [opened, setOpened] = useState<Panel>();
  const close = (): void => setOpened(undefined);
  // The panel has one place.
  const open = (next: Panel): void => {
    cancel();
    setOpened(next);
  };
  return (
    <>
      <Table
        label={t`Backup targets`}
        columns={[
          t`Name`,
          t`State`,
          t`Last backup`,
          numeric(t`Backups`),
          numeric(t`Used`),
          numeric(t`Free`),
          t`Actions`,
        ]}
        className="hg-gap-below"
      >
        {targets.map((target) => {
          const { id, name, path } = target;
          return (
            <tr key={id} aria-current={id === shown ? 'true' : undefined}>
              <td>
                <Data>{name}</Data>
                {path !== undefined && (
                  <p className="hg-note">
                    <Data>{path}</Data>
                  </p>
                )}
              </td>
              <StateCells id={id} canRead={canReadAll} />
              <td>
                <div className="hg-toolbar">
                  <Button
                    variant="link"
                    aria-label={t`Show the backups in ${name}`}
                    aria-pressed={id === shown}
                    onClick={() => onShow(id)}
                  >
                    {t`Show`}
                  </Button>
                  <ReasonedButton
                    variant="link"
                    aria-label={t`Check ${name}`}
                    reason={refusal}
                    onClick={() => open({ of: 'check', target })}
                  >
                    {t`Check…`}
                  </ReasonedButton>
                  <ReasonedButton
                    variant="link"
                    aria-label={t`Clean up ${name}`}
                    reason={refusal}
                    onClick={() => open({ of: 'clean', target })}
                  >
                    {t`Clean up…`}
                  </ReasonedButton>
                  <ReasonedButton
                    variant="link"
                    aria-label={t`Remove ${name}`}
                    reason={refusal}
                    onClick={() => {
                      close();
                      ask({
                        title: t`Remove the backup target ${name}?`,
                        label: t`Remove`,
                        done: t`${name} was removed. Its repository is kept.`,
                        isDanger: true,
                        ...removingTarget(id),
                      });
                    }}
                  >
                    {t`Remove…`}
                  </ReasonedButton>
                </div>
              </td>
            </tr>
          );
        })}
      </Table>
      {panel}
      {opened?.of === 'check' && <CheckPanel key={opened.target.id} target={opened.target} onClose={close} />}
      {opened?.of === 'clean' && <CleanPanel key={opened.target.id} target={opened.target} onClose={close} />}
    </>
  );
}

function StateCells({ id, canRead }: { id: string; canRead: boolean }) {
  const { data, error } = useTargetState(id, canRead);
  const bytes = (size: number | undefined): string => (size === undefined ? '–' : readableBytes(size));
  const reason = error?.message ?? data?.reason;
  return (
    <>
      <td>
        {data && <StatusLabel wording={targetWording()[data.state]} />}
        {!data && !error && (canRead ? t`Loading` : '–')}
        {reason !== undefined && (
          <p className="hg-note">
            <ServiceText>{reason}</ServiceText>
          </p>
        )}
      </td>
      <td>
        {data?.lastBackup !== undefined ? <Timestamp at={data.lastBackup} /> : data?.points === 0 ? t`Never` : '–'}
      </td>
      <td className="hg-numeric">{data?.points ?? '–'}</td>
      <td className="hg-numeric">{bytes(data?.usedBytes)}</td>
      <td className="hg-numeric">{bytes(data?.freeBytes)}</td>
    </>
  );
}
