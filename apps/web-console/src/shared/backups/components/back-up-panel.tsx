import { t } from '@lingui/core/macro';
import { useQueryClient } from '@tanstack/react-query';
import type { BackupTargetView } from '@headgate/api-contracts';
import { useState, type ReactNode } from 'react';
import type { InstanceAddress } from '../../api/instance-path.js';
import { PlanPanel } from '../../plans/plan-panel.js';
import { useTrackTask } from '../../tasks/track-task.js';
import { Field, helpId } from '../../ui/field.js';
import { SelectInput } from '../../ui/inputs.js';
import { backingUp, BACKUPS_KEY } from '../backup-requests.js';

interface BackUpPanelProps {
  vm: InstanceAddress;
  /** At least one. */
  targets: readonly BackupTargetView[];
  /** Other choices, above the target. */
  options?: ReactNode;
  subject?: { readonly name: string; readonly state: string } | undefined;
  onClose: () => void;
}

/** Backs a VM up now, to the chosen target. */
export function BackUpPanel({ vm, targets, options, subject, onClose }: BackUpPanelProps) {
  const [target, setTarget] = useState(targets[0]?.id ?? '');
  const trackTask = useTrackTask();
  const queries = useQueryClient();
  const change = backingUp(vm, target);
  return (
    <PlanPanel
      title={t`Back up ${vm.name}`}
      label={t`Back up`}
      failure={t`Couldn't back up ${vm.name}`}
      choice={JSON.stringify([vm, target])}
      subject={subject}
      options={
        <>
          {options}
          <Field label={t`Target`} id="backup-target">
            <SelectInput
              id="backup-target"
              value={target}
              aria-describedby={helpId('backup-target')}
              onChange={setTarget}
            >
              {targets.map(({ id, name }) => (
                <option key={id} value={id} translate="no">
                  {name}
                </option>
              ))}
            </SelectInput>
          </Field>
        </>
      }
      preview={change.preview}
      run={change.run}
      onClose={onClose}
      onDone={({ task }) => {
        trackTask(task);
        void queries.invalidateQueries({ queryKey: BACKUPS_KEY });
      }}
      outcome={({ task }) => ({ title: t`${vm.name} is being backed up`, task })}
    />
  );
}
