import { t } from '@lingui/core/macro';
import { useQueryClient } from '@tanstack/react-query';
import type { BackupPointView } from '@headgate/api-contracts';
import { useState } from 'react';
import { TextField } from '../../creation/components/text-field.js';
import { PlanPanel } from '../../plans/plan-panel.js';
import { useCapabilities } from '../../queries/use-capabilities.js';
import { useTrackTask } from '../../tasks/track-task.js';
import { Switch } from '../../ui/inputs.js';
import { afterPause } from '../after-pause.js';
import { BACKUPS_KEY, provingPoint } from '../backup-requests.js';
import { nameOfRef } from '../point-names.js';
import { usualContext } from '../usual-context.js';
import { ContextField } from './context-field.js';

const DEFAULT_SECONDS = '300';

interface ProvePanelProps {
  target: string;
  point: BackupPointView;
  onClose: () => void;
}

/** Boots a backup without a network, to see that it does. The VM and its backup stay as they are. */
export function ProvePanel({ target, point, onClose }: ProvePanelProps) {
  const { data: capabilities } = useCapabilities();
  const contexts = capabilities?.contexts ?? [];
  const [chosen, setContext] = useState<string>();
  const context = chosen ?? usualContext(point.ref, contexts, 'bootProof');
  const [seconds, setSeconds] = useState(DEFAULT_SECONDS);
  const [readAll, setReadAll] = useState(true);
  const trackTask = useTrackTask();
  const queries = useQueryClient();
  const name = nameOfRef(point.ref);
  const isValid = /^\d{1,4}$/.test(seconds) && Number(seconds) >= 5 && Number(seconds) <= 3600;
  const problem = isValid ? undefined : t`Enter 5 to 3600 seconds.`;
  const request = { context, readAll, timeLimitSeconds: Number(seconds) };
  const change = provingPoint(target, point.id, request);
  return (
    <PlanPanel
      title={t`Boot the backup of ${name} as a proof`}
      label={t`Boot`}
      failure={t`Couldn't boot the backup of ${name}`}
      choice={JSON.stringify([request, seconds])}
      options={
        <>
          <ContextField
            id="prove-context"
            contexts={contexts}
            ability="bootProof"
            value={context}
            onChange={setContext}
          />
          <TextField
            id="prove-seconds"
            label={t`Time limit for the guest (seconds)`}
            value={seconds}
            problem={problem}
            onChange={setSeconds}
          />
          <Switch
            id="prove-all"
            label={t`Read all of the disks, and compare them with their hashes`}
            isChecked={readAll}
            onChange={setReadAll}
          />
        </>
      }
      preview={async (signal) => {
        await afterPause(signal);
        if (problem !== undefined) throw new Error(problem);
        return change.preview(signal);
      }}
      run={change.run}
      onClose={onClose}
      onDone={({ task }) => {
        trackTask(task);
        void queries.invalidateQueries({ queryKey: BACKUPS_KEY });
      }}
      outcome={({ task }) => ({ title: t`The backup of ${name} is being booted`, task })}
    />
  );
}
