import { t } from '@lingui/core/macro';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { ContinuedView, PlanView, SnapshotView, VmView } from '@headgate/api-contracts';
import { useState } from 'react';
import { curlOf, sendRequest } from '../../../shared/actions/api-request.js';
import { planState } from '../../../shared/actions/registry.js';
import { messageOf } from '../../../shared/api/api-error.js';
import { busyReason } from '../../../shared/instances/busy.js';
import { isMeasured, isVm, readOf, type Instance } from '../../../shared/instances/instance.js';
import { nameProblem } from '../../../shared/names/name-rule.js';
import { PlanPanel } from '../../../shared/plans/plan-panel.js';
import { contextNamed, unavailableReason, useCapabilities } from '../../../shared/queries/use-capabilities.js';
import { readOnlyReason, useWhoami } from '../../../shared/queries/use-whoami.js';
import { useTrackTask } from '../../../shared/tasks/track-task.js';
import { ErrorAlert } from '../../../shared/ui/error-alert.js';
import { Switch } from '../../../shared/ui/inputs.js';
import { LabeledInput } from '../../../shared/ui/labeled-input.js';
import { Skeleton } from '../../../shared/ui/loading.js';
import { useNotify } from '../../../shared/ui/notifications.js';
import { ReasonedButton } from '../../../shared/ui/reasoned-button.js';
import { ReloadButton } from '../../../shared/ui/reload-button.js';
import { Table } from '../../../shared/ui/table.js';
import { Timestamp } from '../../../shared/ui/timestamp.js';
import { createSnapshot, snapshotRequest, snapshotsKey, useSnapshots } from '../api/snapshot-requests.js';
import { BackupsSection } from './backups-section.js';
import { CheckpointsSection } from './checkpoints-section.js';
import { CloneDialog, TemplateButton } from './clone-dialog.js';
import { perLanguage } from '../../../shared/texts/per-language.js';
import { Data } from '../../../shared/ui/data.js';

interface Change {
  readonly action: 'restore' | 'delete';
  readonly snapshot: SnapshotView;
}

/** The snapshots of a VM, its clones, its backups and its checkpoints. */
export function SnapshotsTab({ vm }: { vm: VmView }) {
  const { data: capabilities } = useCapabilities();
  const { data: whoami } = useWhoami();
  const context = contextNamed(capabilities, vm.context);
  const refusal = readOnlyReason(whoami);
  const unavailable = unavailableReason(context, 'snapshots');
  const [isCloning, setIsCloning] = useState(false);
  const cloneRefusal =
    unavailableReason(context, 'cloning') ??
    refusal ??
    busyReason(vm, 'copy') ??
    (vm.running ? t`Stop the VM to clone it.` : undefined);
  return (
    <div className="hg-page">
      <div className="hg-toolbar hg-gap-below">
        <ReasonedButton variant="secondary" reason={cloneRefusal} onClick={() => setIsCloning(true)}>
          {t`Clone…`}
        </ReasonedButton>
        <TemplateButton vm={vm} refusal={unavailableReason(context, 'cloning') ?? refusal ?? busyReason(vm)} />
      </div>
      {isCloning && <CloneDialog vm={vm} onClose={() => setIsCloning(false)} />}
      <section aria-label={t`Snapshots`} className="hg-section">
        <h2>{t`Snapshots`}</h2>
        {unavailable === undefined ? (
          <Snapshots vm={vm} refusal={refusal} />
        ) : (
          <p className="hg-note" lang="en">
            {unavailable}
          </p>
        )}
      </section>
      <BackupsSection vm={vm} refusal={refusal} />
      <CheckpointsSection vm={vm} refusal={refusal} />
    </div>
  );
}

/** The snapshots of a VM or a container. */
export function Snapshots({ vm, refusal: readOnly }: { vm: Instance; refusal: string | undefined }) {
  const refusal = readOnly ?? busyReason(vm);
  const { data: snapshots, error, refetch, isFetching } = useSnapshots(readOf(vm));
  const [change, setChange] = useState<Change>();
  if (error) return <ErrorAlert title={t`Couldn't load the snapshots`} error={error} onRetry={() => void refetch()} />;
  if (!snapshots) return <Skeleton height="20rem" label={t`Loading the snapshots`} />;
  return (
    <>
      <div className="hg-toolbar hg-toolbar--fields hg-gap-below">
        {readOnly === undefined ? <NewSnapshot vm={vm} /> : <span className="hg-spring" />}
        <ReloadButton isLoading={isFetching} onReload={() => void refetch()} />
      </div>
      <p className="hg-note" role="status">
        {snapshots.length === 0 ? t`No snapshots yet` : t`The oldest first`}
      </p>
      {snapshots.length > 0 && (
        <Table label={t`Snapshots`} columns={[t`Name`, t`Created`, t`State`, t`Actions`]}>
          {snapshots.map((snapshot) => (
            <tr key={snapshot.name}>
              <td>{snapshot.memory === true ? t`${snapshot.name} (with memory)` : <Data>{snapshot.name}</Data>}</td>
              <td>
                <Timestamp at={snapshot.creationTime} />
              </td>
              <td>{snapshot.reason ?? phases()[snapshot.phase]}</td>
              <td>
                <ReasonedButton
                  variant="link"
                  aria-label={t`Restore ${snapshot.name}`}
                  reason={refusal ?? (snapshot.ready ? undefined : t`It can be restored once it is complete.`)}
                  onClick={() => setChange({ action: 'restore', snapshot })}
                >
                  {t`Restore`}
                </ReasonedButton>
                <ReasonedButton
                  variant="link"
                  aria-label={t`Delete ${snapshot.name}`}
                  reason={refusal}
                  onClick={() => setChange({ action: 'delete', snapshot })}
                >
                  {t`Delete`}
                </ReasonedButton>
              </td>
            </tr>
          ))}
        </Table>
      )}
      {change && (
        <ChangePanel
          key={`${change.action} ${change.snapshot.name}`}
          vm={vm}
          change={change}
          onClose={() => setChange(undefined)}
        />
      )}
    </>
  );
}

const phases = perLanguage((): Readonly<Record<SnapshotView['phase'], string>> => ({
  InProgress: t`In progress`,
  Succeeded: t`Ready`,
  Failed: t`Failed`,
  Deleting: t`Being deleted`,
  Unknown: t`Unknown`,
}));

function NewSnapshot({ vm }: { vm: Instance }) {
  const canSaveMemory = isVm(vm) && vm.running;
  const [name, setName] = useState('');
  const [memory, setMemory] = useState(false);
  const queries = useQueryClient();
  const trackTask = useTrackTask();
  const notify = useNotify();
  const problem = name === '' ? undefined : nameProblem(name);
  const busy = busyReason(vm);
  const { mutate, isPending } = useMutation({
    mutationFn: () =>
      createSnapshot(readOf(vm), { ...(name !== '' && { name }), ...(memory && canSaveMemory && { memory }) }),
    onSuccess: ({ name: created, task }) => {
      if (task !== undefined) trackTask(task);
      setName('');
      notify({ variant: 'success', title: t`Created snapshot ${created}` });
    },
    onError: (error) =>
      notify({ variant: 'danger', title: t`Couldn't create a snapshot of ${vm.name}`, body: messageOf(error) }),
    onSettled: () => queries.invalidateQueries({ queryKey: snapshotsKey(readOf(vm)) }),
  });
  return (
    <form
      className="hg-toolbar hg-toolbar--fields"
      onSubmit={(event) => {
        event.preventDefault();
        if (problem === undefined && busy === undefined && !isPending) mutate();
      }}
    >
      <LabeledInput
        label={t`Name of the snapshot`}
        placeholder={t`Automatic name`}
        value={name}
        isInvalid={problem !== undefined}
        onChange={setName}
      />
      {canSaveMemory && (
        <Switch id="snapshot-memory" label={t`Include memory`} isChecked={memory} onChange={setMemory} />
      )}
      <ReasonedButton type="submit" reason={busy} isLoading={isPending} isDisabled={isPending || problem !== undefined}>
        {t`Create snapshot`}
      </ReasonedButton>
    </form>
  );
}

const afterRestore = (instance: Instance, { memory }: SnapshotView): string =>
  memory === true
    ? t`Its guest continues from the moment of the snapshot.`
    : isMeasured(instance)
      ? isVm(instance)
        ? t`The VM is powered off and started again.`
        : t`The container is stopped and started again.`
      : '';

/** The plan of a restore or a deletion, which can't be undone. */
function ChangePanel({ vm, change, onClose }: { vm: Instance; change: Change; onClose: () => void }) {
  const { action, snapshot } = change;
  const queries = useQueryClient();
  const trackTask = useTrackTask();
  const isRestore = action === 'restore';
  const request = snapshotRequest(readOf(vm), snapshot.name, action);
  const label = isRestore ? t`Restore ${snapshot.name}` : t`Delete ${snapshot.name}`;
  return (
    <PlanPanel
      title={label}
      label={label}
      failure={isRestore ? t`Couldn't restore ${snapshot.name}` : t`Couldn't delete ${snapshot.name}`}
      isDanger
      consequence={
        isRestore
          ? [t`${vm.name} loses everything written since the snapshot.`, afterRestore(vm, snapshot)]
              .filter(Boolean)
              .join(' ')
          : t`The content of ${vm.name} and of its other snapshots is kept.`
      }
      preview={(signal) => sendRequest<PlanView>(request, { dryRun: true, signal })}
      run={() => sendRequest<ContinuedView>(request)}
      subject={{ name: vm.name, state: planState(vm) }}
      curl={curlOf(request, location.origin)}
      onClose={onClose}
      onDone={({ task }) => {
        if (task !== undefined) trackTask(task);
        void queries.invalidateQueries({ queryKey: snapshotsKey(readOf(vm)) });
      }}
      outcome={({ task }) => ({
        title: isRestore ? t`${vm.name} is being restored to ${snapshot.name}` : t`Deleted snapshot ${snapshot.name}`,
        task,
      })}
    />
  );
}
