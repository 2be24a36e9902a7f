import { t } from '@lingui/core/macro';
import { useQueryClient } from '@tanstack/react-query';
import type { CheckpointView, PlanView, VmView } from '@headgate/api-contracts';
import { useState } from 'react';
import { curlOf, sendRequest } from '../../../shared/actions/api-request.js';
import { planState } from '../../../shared/actions/registry.js';
import { busyReason } from '../../../shared/instances/busy.js';
import { nameProblem } from '../../../shared/names/name-rule.js';
import { PlanPanel } from '../../../shared/plans/plan-panel.js';
import { readableBytes } from '../../../shared/quantity/quantity.js';
import { contextNamed, unavailableReason, useCapabilities } from '../../../shared/queries/use-capabilities.js';
import { ErrorAlert } from '../../../shared/ui/error-alert.js';
import { LabeledInput } from '../../../shared/ui/labeled-input.js';
import { ReasonedButton } from '../../../shared/ui/reasoned-button.js';
import { ReloadButton } from '../../../shared/ui/reload-button.js';
import { Table } from '../../../shared/ui/table.js';
import { Timestamp } from '../../../shared/ui/timestamp.js';
import { checkpointDeletion, checkpointsKey, exportPath, useCheckpoints } from '../api/checkpoint-requests.js';

/** Downloads of a running VM's disk, and of its changes since then. */
export function CheckpointsSection({ vm, refusal }: { vm: VmView; refusal: string | undefined }) {
  const { data: capabilities } = useCapabilities();
  const unavailable = unavailableReason(contextNamed(capabilities, vm.context), 'backups');
  return (
    <section aria-label={t`Checkpoints`} className="hg-section">
      <h2>{t`Checkpoints`}</h2>
      <p className="hg-note">
        {t`An export with a checkpoint saves the disk of a running VM. Later exports contain only the changes since then.`}
      </p>
      {unavailable === undefined ? (
        <Checkpoints vm={vm} refusal={refusal} />
      ) : (
        <p className="hg-note" lang="en">
          {unavailable}
        </p>
      )}
    </section>
  );
}

function Checkpoints({ vm, refusal }: { vm: VmView; refusal: string | undefined }) {
  const { data: checkpoints, error, refetch, isFetching } = useCheckpoints(vm);
  const [name, setName] = useState('');
  const problem = name === '' ? undefined : nameProblem(name);
  const queries = useQueryClient();
  const [deleted, setDeleted] = useState<string>();
  if (error)
    return <ErrorAlert title={t`Couldn't load the checkpoints`} error={error} onRetry={() => void refetch()} />;
  const stopped = vm.running ? undefined : t`Start the VM to export its disk with a checkpoint.`;
  const reason = refusal ?? busyReason(vm, 'guest') ?? stopped;
  const checkpoint = name === '' || problem !== undefined ? undefined : name;
  return (
    <>
      <div className="hg-toolbar hg-toolbar--fields hg-gap-below">
        {reason === undefined ? (
          <>
            <LabeledInput
              label={t`Name of the checkpoint`}
              placeholder="monday"
              value={name}
              isInvalid={problem !== undefined}
              onChange={setName}
            />
            {checkpoint !== undefined && (
              <a href={exportPath(vm, { checkpoint })} download>
                {t`Export the whole disk`}
              </a>
            )}
          </>
        ) : (
          <p className="hg-note">{reason}</p>
        )}
        <span className="hg-spring" />
        <ReloadButton isLoading={isFetching} onReload={() => void refetch()} />
      </div>
      {checkpoints?.length === 0 && <p className="hg-note">{t`No checkpoints yet`}</p>}
      {checkpoints && checkpoints.length > 0 && (
        <Table label={t`Checkpoints`} columns={[t`Name`, t`Created`, t`Changes`, t`Actions`]}>
          {checkpoints.map((one) => (
            <tr key={one.name}>
              <td translate="no">{one.name}</td>
              <td>
                <Timestamp at={one.creationTime} />
              </td>
              <td>{changesOf(one)}</td>
              <td>
                {one.ready && refusal === undefined && busyReason(vm, 'guest') === undefined && (
                  <a
                    href={exportPath(vm, { since: one.name, ...(checkpoint !== undefined && { checkpoint }) })}
                    aria-label={t`Export the changes since ${one.name}`}
                    download
                  >
                    {t`Export changes`}
                  </a>
                )}{' '}
                <ReasonedButton
                  variant="link"
                  aria-label={t`Delete checkpoint ${one.name}`}
                  reason={refusal ?? busyReason(vm)}
                  onClick={() => setDeleted(one.name)}
                >
                  {t`Delete`}
                </ReasonedButton>
              </td>
            </tr>
          ))}
        </Table>
      )}
      {deleted !== undefined && (
        <CheckpointDeletion
          key={deleted}
          vm={vm}
          name={deleted}
          onClose={() => setDeleted(undefined)}
          onDone={() => void queries.invalidateQueries({ queryKey: checkpointsKey(vm) })}
        />
      )}
    </>
  );
}

interface CheckpointDeletionProps {
  vm: VmView;
  name: string;
  onClose: () => void;
  onDone: () => void;
}

function CheckpointDeletion({ vm, name, onClose, onDone }: CheckpointDeletionProps) {
  const request = checkpointDeletion(vm, name);
  const label = t`Delete checkpoint ${name}`;
  return (
    <PlanPanel
      title={label}
      label={label}
      failure={t`Couldn't delete checkpoint ${name}`}
      isDanger
      preview={(signal) => sendRequest<PlanView>(request, { dryRun: true, signal })}
      run={() => sendRequest(request)}
      subject={{ name: vm.name, state: planState(vm) }}
      curl={curlOf(request, location.origin)}
      onClose={onClose}
      onDone={onDone}
      outcome={() => ({ title: t`Deleted checkpoint ${name}` })}
    />
  );
}

const changesOf = ({ reason, changedBytes }: CheckpointView): string =>
  reason ?? (changedBytes === undefined ? t`Unknown` : readableBytes(changedBytes));
