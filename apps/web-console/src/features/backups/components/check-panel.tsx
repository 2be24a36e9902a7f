import { t } from '@lingui/core/macro';
import type { BackupTargetView } from '@headgate/api-contracts';
import { useState } from 'react';
import { checkingTarget } from '../../../shared/backups/backup-requests.js';
import { PlanPanel } from '../../../shared/plans/plan-panel.js';
import { useTrackTask } from '../../../shared/tasks/track-task.js';
import { Switch } from '../../../shared/ui/inputs.js';

/** Verifies a target: its lists, or everything in it. */
export function CheckPanel({ target: { id, name }, onClose }: { target: BackupTargetView; onClose: () => void }) {
  const [readData, setReadData] = useState(false);
  const trackTask = useTrackTask();
  const change = checkingTarget(id, readData);
  return (
    <PlanPanel
      title={t`Check ${name}`}
      label={t`Check`}
      failure={t`Couldn't check ${name}`}
      choice={String(readData)}
      options={
        <Switch
          id="check-read-data"
          label={t`Read all of its content, which may take hours`}
          isChecked={readData}
          onChange={setReadData}
        />
      }
      preview={change.preview}
      run={change.run}
      onClose={onClose}
      onDone={({ task }) => trackTask(task)}
      outcome={({ task }) => ({ title: t`${name} is being checked`, task })}
    />
  );
}
