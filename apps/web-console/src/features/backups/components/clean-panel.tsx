import { t } from '@lingui/core/macro';
import { useQueryClient } from '@tanstack/react-query';
import type { BackupTargetView } from '@headgate/api-contracts';
import { useState } from 'react';
import { afterPause } from '../../../shared/backups/after-pause.js';
import { BACKUPS_KEY, cleaningTarget } from '../../../shared/backups/backup-requests.js';
import { KeepFields } from '../../../shared/backups/components/keep-fields.js';
import { keepProblem, rulesOf, USUAL_RULES } from '../../../shared/backups/keep-form.js';
import { PlanPanel } from '../../../shared/plans/plan-panel.js';
import { useTrackTask } from '../../../shared/tasks/track-task.js';

/** Deletes the backups in a target that rules do not keep. The plan names each of them. */
export function CleanPanel({ target: { id, name }, onClose }: { target: BackupTargetView; onClose: () => void }) {
  const [form, setForm] = useState(USUAL_RULES);
  const trackTask = useTrackTask();
  const queries = useQueryClient();
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  const change = cleaningTarget(id, { keep: rulesOf(form) ?? {}, timeZone });
  return (
    <PlanPanel
      title={t`Clean up ${name}`}
      label={t`Delete backups`}
      failure={t`Couldn't clean up ${name}`}
      isDanger
      choice={JSON.stringify(form)}
      options={<KeepFields form={form} onChange={setForm} />}
      preview={async (signal) => {
        await afterPause(signal);
        const problem = keepProblem(form);
        if (problem !== undefined) throw new Error(problem);
        return change.preview(signal);
      }}
      run={change.run}
      onClose={onClose}
      onDone={({ task }) => {
        trackTask(task);
        void queries.invalidateQueries({ queryKey: BACKUPS_KEY });
      }}
      outcome={({ task }) => ({ title: t`${name} is being cleaned up`, task })}
    />
  );
}
