import { t } from '@lingui/core/macro';
import { useQueryClient } from '@tanstack/react-query';
import type { BackupPointView } from '@headgate/api-contracts';
import { useState } from 'react';
import { TextField } from '../../creation/components/text-field.js';
import { nameOfRef, namespaceOfRef, contextOfRef } from '../point-names.js';
import { nameProblem } from '../../names/name-rule.js';
import { PlanPanel } from '../../plans/plan-panel.js';
import { useCapabilities } from '../../queries/use-capabilities.js';
import { useTrackTask } from '../../tasks/track-task.js';
import { Switch } from '../../ui/inputs.js';
import { afterPause } from '../after-pause.js';
import { BACKUPS_KEY, restoringPoint } from '../backup-requests.js';
import { usualContext } from '../usual-context.js';
import { ContextField } from './context-field.js';

interface RestorePanelProps {
  target: string;
  point: BackupPointView;
  onClose: () => void;
}

/** Builds a new VM from a backup. The original stays as it is. */
export function RestorePanel({ target, point, onClose }: RestorePanelProps) {
  const { data: capabilities } = useCapabilities();
  const contexts = capabilities?.contexts ?? [];
  const [chosen, setContext] = useState<string>();
  const context = chosen ?? usualContext(point.ref, contexts, 'diskIngest');
  const [typed, setNamespace] = useState<string>();
  // The namespaces of another context are other ones.
  const namespace = typed ?? (context === contextOfRef(point.ref) ? namespaceOfRef(point.ref) : '');
  const [name, setName] = useState(`${nameOfRef(point.ref)}-restored`);
  const [keepMacs, setKeepMacs] = useState(false);
  const trackTask = useTrackTask();
  const queries = useQueryClient();
  const original = nameOfRef(point.ref);
  const request = { context, name, keepMacs, ...(namespace !== '' && { namespace }) };
  const change = restoringPoint(target, point.id, request);
  return (
    <PlanPanel
      title={t`Restore ${original} as a new VM`}
      label={t`Restore`}
      failure={t`Couldn't restore ${original}`}
      choice={JSON.stringify(request)}
      options={
        <>
          <TextField
            id="restore-name"
            label={t`Name`}
            required
            value={name}
            problem={name === '' ? undefined : nameProblem(name)}
            onChange={setName}
          />
          <ContextField
            id="restore-context"
            contexts={contexts}
            ability="diskIngest"
            value={context}
            onChange={(another) => {
              setContext(another);
              setNamespace(undefined);
            }}
          />
          <TextField
            id="restore-namespace"
            label={t`Namespace`}
            hint={t`Empty for the default of the context`}
            value={namespace}
            onChange={setNamespace}
          />
          <Switch
            id="restore-macs"
            label={t`Keep the addresses of the network cards`}
            isChecked={keepMacs}
            onChange={setKeepMacs}
          />
        </>
      }
      preview={async (signal) => {
        await afterPause(signal);
        return change.preview(signal);
      }}
      run={change.run}
      onClose={onClose}
      onDone={({ task }) => {
        trackTask(task);
        void queries.invalidateQueries({ queryKey: BACKUPS_KEY });
      }}
      outcome={({ task }) => ({ title: t`${name} is being restored`, task })}
    />
  );
}
