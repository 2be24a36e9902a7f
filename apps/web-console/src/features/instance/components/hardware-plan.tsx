import { t } from '@lingui/core/macro';
import type { HardwareChangesView, HardwareView } from '@headgate/api-contracts';
import { useId, useState } from 'react';
import { curlOf } from '../../../shared/actions/api-request.js';
import { ApiError } from '../../../shared/api/api-error.js';
import { isMeasured, readOf, type Instance } from '../../../shared/instances/instance.js';
import { PlanPanel } from '../../../shared/plans/plan-panel.js';
import { perLanguage } from '../../../shared/texts/per-language.js';
import { Switch } from '../../../shared/ui/inputs.js';
import { useNotify } from '../../../shared/ui/notifications.js';
import { changesRequest, planChanges, sendChanges } from '../api/hardware-changes-requests.js';
import type { TypedChanges } from '../hardware-changes.js';
import { endDrafts, type Drafts } from '../hardware-drafts.js';
import { allRows } from '../hardware-rows.js';
import { countOf } from './hardware-footer.js';

interface HardwarePlanProps {
  vm: Instance;
  typed: TypedChanges;
  hardware: HardwareView;
  drafts: Drafts;
  /** The state that the plan depends on. */
  state: string;
  onClose: () => void;
  onChanged: () => void;
}

/** The body of the notice after a change that the guest does not have yet. */
const applyingHint = perLanguage(
  () => t`A live migration applies the change. The guest gets it when the migration ends.`,
);

/** The plan of all typed changes, which are sent as one request. */
export function HardwarePlan({ vm, typed, hardware, drafts, state, onClose, onChanged }: HardwarePlanProps) {
  const { changes, rows } = typed;
  const [isRestarted, setIsRestarted] = useState(false);
  const id = useId();
  const notify = useNotify();
  const isRunning = isMeasured(vm);
  const count = countOf(changes.length);
  const request = changesRequest(readOf(vm), changes, isRestarted && isRunning);
  /** Ends the drafts of the changes that were applied: the others are still to do. */
  const end = (indexes: readonly number[]): void => {
    const applied = new Set(indexes.flatMap((index) => rows[index] ?? []));
    const fields = allRows(hardware, drafts).flatMap((row) =>
      applied.has(row.id) ? Object.values(row.boxes).map(({ field }) => field) : [],
    );
    endDrafts(vm, fields);
  };
  const run = async (): Promise<HardwareChangesView> => {
    try {
      return await sendChanges(request);
    } catch (error) {
      end(appliedBefore(error));
      onChanged();
      throw error;
    }
  };
  return (
    <PlanPanel
      title={t`${count} of ${vm.name}`}
      label={isRestarted && isRunning ? t`Apply ${count} and restart` : t`Apply ${count}`}
      failure={t`Couldn't change the hardware`}
      isDanger={changes.some((change) => change.delete === true)}
      preview={(signal) => planChanges(request, signal)}
      run={run}
      options={
        isRunning && (
          <Switch
            id={id}
            label={t`Restart ${vm.name} if a size or placement can't change while it runs`}
            isChecked={isRestarted}
            onChange={setIsRestarted}
          />
        )
      }
      choice={JSON.stringify([changes, isRestarted])}
      subject={{ name: vm.name, state }}
      curl={curlOf(request, location.origin)}
      onClose={onClose}
      onDone={({ applying = [] }) => {
        onClose();
        end(changes.map((_change, index) => index));
        if (applying.length > 0)
          notify({ variant: 'info', title: t`${vm.name} is being changed`, body: applyingHint() });
        else notify({ variant: 'success', title: t`Changed the hardware of ${vm.name}` });
        onChanged();
      }}
    />
  );
}

/** The places of the changes that were carried out before a failure. */
function appliedBefore(error: unknown): readonly number[] {
  const { details } = error instanceof ApiError ? error : {};
  const indexes: unknown = typeof details === 'object' && details !== null ? Reflect.get(details, 'indexes') : [];
  return Array.isArray(indexes) ? indexes.filter((index): index is number => Number.isInteger(index)) : [];
}
