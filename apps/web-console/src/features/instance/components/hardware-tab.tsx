import { t } from '@lingui/core/macro';
import { useQueryClient } from '@tanstack/react-query';
import type { HardwareView } from '@headgate/api-contracts';
import { useEffect, useId, useRef, useState, type KeyboardEvent } from 'react';
import { busyReason } from '../../../shared/instances/busy.js';
import { isMeasured, isVm, readOf, type Instance } from '../../../shared/instances/instance.js';
import { PlanPanel } from '../../../shared/plans/plan-panel.js';
import {
  contextNamed,
  unavailableForContainers,
  unavailableReason,
  useCapabilities,
} from '../../../shared/queries/use-capabilities.js';
import { readOnlyReason, useWhoami } from '../../../shared/queries/use-whoami.js';
import { readableSizes } from '../../../shared/quantity/quantity.js';
import { perLanguage } from '../../../shared/texts/per-language.js';
import { useTrackTask } from '../../../shared/tasks/track-task.js';
import { ErrorAlert } from '../../../shared/ui/error-alert.js';
import { Skeleton } from '../../../shared/ui/loading.js';
import { useNotify } from '../../../shared/ui/notifications.js';
import { ReloadButton } from '../../../shared/ui/reload-button.js';
import { useSettled } from '../../../shared/ui/use-settled.js';
import { useRehearsal } from '../api/hardware-changes-requests.js';
import {
  changeHardware,
  hardwareKey,
  previewHardware,
  useHardware,
  type HardwareChangeRequest,
} from '../api/hardware-requests.js';
import { typedChanges, type TypedChanges } from '../hardware-changes.js';
import { endDrafts, useDrafts } from '../hardware-drafts.js';
import type { Row } from '../hardware-rows.js';
import { ApplyingChanges, useAppliedNotice } from './applying-changes.js';
import { HardwareFooter } from './hardware-footer.js';
import { HardwarePlan } from './hardware-plan.js';
import type { RowState, TableState } from './hardware-row.js';
import { HardwareTable } from './hardware-table.js';
import { HostDeviceList } from './host-device-list.js';
import { MoveDiskSection } from './move-disk-section.js';

/** How long the user has not typed before the changes are rehearsed. */
const SETTLE_MS = 400;
const NONE: TypedChanges['changes'] = [];

/** The hardware of a VM or a container as one table, whose typed changes are one request with one plan. */
export function HardwareTab({ vm }: { vm: Instance }) {
  const { data: capabilities } = useCapabilities();
  const context = contextNamed(capabilities, vm.context);
  const unavailable = isVm(vm) ? unavailableReason(context, 'hardware') : unavailableForContainers(context, 'hardware');
  const { data, error, refetch, isFetching } = useHardware(readOf(vm), unavailable === undefined);
  useAppliedNotice(vm, data);
  useReadAgain(vm, refetch);
  if (unavailable !== undefined) return <p className="hg-note hg-page">{unavailable}</p>;
  if (error && !data)
    return <ErrorAlert title={t`Couldn't load the hardware`} error={error} onRetry={() => void refetch()} />;
  if (!data) return <Skeleton height="20rem" label={t`Loading the hardware`} />;
  return <Hardware vm={vm} hardware={data} isFetching={isFetching} onReload={() => void refetch()} />;
}

/** Another user may have changed the machine when its entry changes. */
function useReadAgain(vm: Instance, refetch: () => unknown): void {
  const seen = useRef(vm);
  useEffect(() => {
    if (seen.current !== vm && seen.current.ref === vm.ref) refetch();
    seen.current = vm;
  }, [vm, refetch]);
}

interface HardwareProps {
  vm: Instance;
  hardware: HardwareView;
  isFetching: boolean;
  onReload: () => void;
}

function Hardware({ vm, hardware, isFetching, onReload }: HardwareProps) {
  const { data: whoami } = useWhoami();
  const refusal = readOnlyReason(whoami) ?? busyReason(vm);
  const drafts = useDrafts(vm);
  const typed = typedChanges(hardware, drafts);
  const { changes, rows, problems } = typed;
  const noteId = useId();
  const [isPlanned, setIsPlanned] = useState(false);
  const [single, setSingle] = useState<HardwareChangeRequest>();
  const queries = useQueryClient();
  const state = JSON.stringify([hardware, isMeasured(vm)]);
  const settled = useSettled(JSON.stringify(refusal === undefined ? changes : NONE), SETTLE_MS, '[]');
  const isSettled = settled === JSON.stringify(changes);
  const rehearsal = useRehearsal(readOf(vm), isSettled ? changes : NONE, state);
  const stateOf = ({ id }: Row): RowState => {
    const index = rows.findIndex((ids) => ids.includes(id));
    const planned = isSettled ? rehearsal.data?.changes.find((change) => change.index === index) : undefined;
    const refused = planned?.refusals[0];
    return {
      effect: planned && !refused && planned.steps.length > 0 ? effects()[planned.effect] : undefined,
      problem: problems.get(id) ?? (refused && readableSizes(refused.reason)),
    };
  };
  const table: TableState = { vm, drafts, refusal, noteId, stateOf };
  const canApply = refusal === undefined && changes.length > 0 && problems.size === 0;
  const onChanged = (): void => {
    void queries.invalidateQueries({ queryKey: hardwareKey(readOf(vm)) });
    void queries.invalidateQueries({ queryKey: ['host-resources', vm.context] });
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey) || !canApply) return;
    event.preventDefault();
    setIsPlanned(true);
  };
  return (
    <div className="hg-page" onKeyDown={onKeyDown}>
      <div className="hg-toolbar hg-gap-below">
        <Pending hardware={hardware} />
        <ApplyingChanges hardware={hardware} />
        <span className="hg-spring" />
        <ReloadButton isLoading={isFetching} onReload={onReload} />
      </div>
      {refusal !== undefined && (
        <p id={noteId} className="hg-note hg-gap-below">
          {refusal}
        </p>
      )}
      <HardwareTable table={table} hardware={hardware} />
      {isVm(vm) && (
        <>
          <HostDeviceList table={table} drafts={drafts} />
          <MoveDiskSection {...{ vm, hardware, refusal }} onChange={setSingle} />
        </>
      )}
      <HardwareFooter vm={vm} typed={typed} refusal={refusal} onReview={() => setIsPlanned(true)} />
      {isPlanned && changes.length > 0 && (
        <HardwarePlan
          vm={vm}
          typed={typed}
          hardware={hardware}
          drafts={drafts}
          state={state}
          onClose={() => setIsPlanned(false)}
          onChanged={onChanged}
        />
      )}
      {single && <SingleChange vm={vm} change={single} onClose={() => setSingle(undefined)} onChanged={onChanged} />}
    </div>
  );
}

const effects = perLanguage(() => ({
  now: t`now`,
  restart: t`at the next restart`,
  'next-start': t`at the next start`,
}));

interface SingleChangeProps {
  vm: Instance;
  change: HardwareChangeRequest;
  onClose: () => void;
  onChanged: () => void;
}

/** A change that a task continues, and that is no part of the common plan. */
function SingleChange({ vm, change, onClose, onChanged }: SingleChangeProps) {
  const notify = useNotify();
  const trackTask = useTrackTask();
  return (
    <PlanPanel
      title={change.title}
      label={change.label}
      failure={t`Couldn't change the hardware`}
      isDanger={change.isDanger ?? false}
      preview={() => previewHardware(vm, change)}
      run={() => changeHardware(vm, change)}
      onClose={onClose}
      onDone={({ task }) => {
        onClose();
        endDrafts(vm, change.drafts ?? []);
        if (task === undefined) notify({ variant: 'success', title: t`Changed the hardware of ${vm.name}` });
        else trackTask(task);
        onChanged();
      }}
    />
  );
}

function Pending({ hardware: { pending } }: { hardware: HardwareView }) {
  if (pending.length === 0) return <span className="hg-note">{t`No changes are waiting for a restart`}</span>;
  return (
    <ul className="hg-note" aria-label={t`Changes that take effect after a restart`}>
      {pending.map(({ field, running, configured }) => (
        <li key={field}>
          {t`${field}: ${readableSizes(running) || t`none`} now, ${readableSizes(configured) || t`none`} after a restart`}
        </li>
      ))}
    </ul>
  );
}
