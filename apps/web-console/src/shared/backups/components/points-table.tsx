import { t } from '@lingui/core/macro';
import type { BackupPointView } from '@headgate/api-contracts';
import { useState } from 'react';
import { Link } from 'wouter';
import { pathOfRef } from '../../location/paths.js';
import { usePlannedChange } from '../../plans/use-planned-change.js';
import { readableBytes } from '../../quantity/quantity.js';
import { Data } from '../../ui/data.js';
import { useNotify } from '../../ui/notifications.js';
import { ReasonedButton } from '../../ui/reasoned-button.js';
import { numeric, Table } from '../../ui/table.js';
import { saveFile } from '../../ui/save-file.js';
import { Timestamp } from '../../ui/timestamp.js';
import { messageOf } from '../../api/api-error.js';
import { deletingPoint, readProof } from '../backup-requests.js';
import { consistencies } from '../backup-wording.js';
import { contextOfRef, nameOfRef } from '../point-names.js';
import { PointFilesPanel } from './point-files-panel.js';
import { ProofCell } from './proof-cell.js';
import { ProvePanel } from './prove-panel.js';
import { RestorePanel } from './restore-panel.js';

export interface TargetPoint extends BackupPointView {
  readonly target: { readonly id: string; readonly name: string };
}

interface PointsTableProps {
  points: readonly TargetPoint[];
  /** Of one VM in all targets, or of all VMs in one target. */
  shows: 'target' | 'vm';
  /** Why the user may not restore and delete backups. */
  refusal: string | undefined;
  onChanged: () => void;
}

/** Backups with the actions on each of them. */
export function PointsTable({ points, shows, refusal, onChanged }: PointsTableProps) {
  const [restored, setRestored] = useState<TargetPoint>();
  const [proved, setProved] = useState<TargetPoint>();
  const [browsed, setBrowsed] = useState<TargetPoint>();
  /** One panel at a time. */
  const show = (panels: { restored?: TargetPoint; proved?: TargetPoint; browsed?: TargetPoint }): void => {
    setRestored(panels.restored);
    setProved(panels.proved);
    setBrowsed(panels.browsed);
  };
  const notify = useNotify();
  const { ask, cancel, panel } = usePlannedChange(t`Couldn't delete the backup`, onChanged);
  const ofVm = shows === 'target';
  const save = async ({ id, ref, target }: TargetPoint): Promise<void> => {
    try {
      const proof = await readProof(target.id, id);
      const text = `${JSON.stringify(proof, undefined, 2)}\n`;
      saveFile(`${nameOfRef(ref)}-proof.json`, new Blob([text], { type: 'application/json' }));
    } catch (error) {
      notify({ variant: 'danger', title: t`Couldn't save the certificate`, body: messageOf(error) });
    }
  };
  return (
    <>
      <Table
        label={t`Backups`}
        columns={[
          t`Time`,
          ofVm ? t`Target` : t`VM`,
          t`State of the disks`,
          t`Proof`,
          numeric(t`Size of the disks`),
          t`Actions`,
        ]}
        className="hg-gap-below"
      >
        {points.map((point) => {
          const { id, time, ref, target, consistency, proof, sizeBytes } = point;
          const [vm, context] = [nameOfRef(ref), contextOfRef(ref)];
          const at = new Date(time).toISOString();
          return (
            <tr key={`${target.id} ${id}`}>
              <td>
                <Timestamp at={time} />
              </td>
              <td>
                {ofVm ? (
                  <Data>{target.name}</Data>
                ) : (
                  <>
                    <Link href={pathOfRef(ref)}>
                      <Data>{vm}</Data>
                    </Link>{' '}
                    <span className="hg-note">
                      <Data>{context}</Data>
                    </span>
                  </>
                )}
              </td>
              <td>{consistencies()[consistency]}</td>
              <td>
                <ProofCell proof={proof} />
              </td>
              <td className="hg-numeric">{readableBytes(sizeBytes)}</td>
              <td>
                <div className="hg-toolbar">
                  <ReasonedButton
                    variant="link"
                    aria-label={t`Restore the backup of ${vm} of ${at}`}
                    reason={refusal}
                    onClick={() => {
                      cancel();
                      show({ restored: point });
                    }}
                  >
                    {t`Restore…`}
                  </ReasonedButton>
                  <ReasonedButton
                    variant="link"
                    aria-label={t`Boot the backup of ${vm} of ${at}`}
                    reason={refusal}
                    onClick={() => {
                      cancel();
                      show({ proved: point });
                    }}
                  >
                    {t`Boot…`}
                  </ReasonedButton>
                  <ReasonedButton
                    variant="link"
                    aria-label={t`Browse the files in the backup of ${vm} of ${at}`}
                    reason={refusal}
                    onClick={() => {
                      cancel();
                      show({ browsed: point });
                    }}
                  >
                    {t`Files…`}
                  </ReasonedButton>
                  {proof && (
                    <ReasonedButton
                      variant="link"
                      aria-label={t`Save the certificate of the backup of ${vm} of ${at}`}
                      reason={refusal}
                      onClick={() => void save(point)}
                    >
                      {t`Certificate`}
                    </ReasonedButton>
                  )}
                  <ReasonedButton
                    variant="link"
                    aria-label={t`Delete the backup of ${vm} of ${at}`}
                    reason={refusal}
                    onClick={() => {
                      show({});
                      ask({
                        title: t`Delete the backup of ${vm}?`,
                        label: t`Delete`,
                        done: t`The backup of ${vm} was deleted`,
                        isDanger: true,
                        ...deletingPoint(target.id, id),
                      });
                    }}
                  >
                    {t`Delete…`}
                  </ReasonedButton>
                </div>
              </td>
            </tr>
          );
        })}
      </Table>
      {panel}
      {restored && (
        <RestorePanel key={restored.id} target={restored.target.id} point={restored} onClose={() => show({})} />
      )}
      {proved && <ProvePanel key={proved.id} target={proved.target.id} point={proved} onClose={() => show({})} />}
      {browsed && (
        <PointFilesPanel key={browsed.id} target={browsed.target.id} point={browsed} onClose={() => show({})} />
      )}
    </>
  );
}
