import { t } from '@lingui/core/macro';
import { useQueryClient } from '@tanstack/react-query';
import type { BackupPointView } from '@headgate/api-contracts';
import { useState } from 'react';
import { refOfAddress } from '../../api/instance-path.js';
import { TextField } from '../../creation/components/text-field.js';
import { nameOfRef, namespaceOfRef, contextOfRef } from '../point-names.js';
import { nameProblem } from '../../names/name-rule.js';
import { PlanPanel } from '../../plans/plan-panel.js';
import { contextNamed, unavailableReason, useCapabilities } from '../../queries/use-capabilities.js';
import { useTrackTask } from '../../tasks/track-task.js';
import { Field } from '../../ui/field.js';
import { SelectInput, Switch } from '../../ui/inputs.js';
import { afterPause } from '../after-pause.js';
import { BACKUPS_KEY, restoringDisks, restoringPoint } from '../backup-requests.js';
import { usualContext } from '../usual-context.js';
import { ContextField } from './context-field.js';

interface RestorePanelProps {
  target: string;
  point: BackupPointView;
  onClose: () => void;
}

type Way = 'new' | 'replace-disks' | 'add-disks';

/** Builds a new VM from a backup, or restores disks of it in a VM that exists. */
export function RestorePanel({ target, point, onClose }: RestorePanelProps) {
  const { data: capabilities } = useCapabilities();
  const contexts = capabilities?.contexts ?? [];
  const [chosen, setContext] = useState<string>();
  const [way, setWay] = useState<Way>('new');
  const ability = way === 'new' ? 'diskIngest' : 'diskRestore';
  const context = chosen ?? usualContext(point.ref, contexts, ability);
  const canRestoreDisks = contexts.some((one) => unavailableReason(one, 'diskRestore') === undefined);
  const [typed, setNamespace] = useState<string>();
  // The namespaces of another context are other ones.
  const namespace = typed ?? (context === contextOfRef(point.ref) ? namespaceOfRef(point.ref) : '');
  const [name, setName] = useState(`${nameOfRef(point.ref)}-restored`);
  const [keepMacs, setKeepMacs] = useState(false);
  const [startsAtOnce, setStartsAtOnce] = useState(false);
  const canStartAtOnce = unavailableReason(contextNamed(capabilities, context), 'instantRestore') === undefined;
  const instant = startsAtOnce && canStartAtOnce;
  const trackTask = useTrackTask();
  const queries = useQueryClient();
  const original = nameOfRef(point.ref);
  const [disks, setDisks] = useState('');
  const names = disks.split(/[\s,]+/).filter((disk) => disk !== '');
  const request = { context, name, keepMacs, instant, ...(namespace !== '' && { namespace }) };
  const receiver = refOfAddress({ context, namespace, name });
  const body = {
    ref: way === 'replace-disks' ? point.ref : receiver,
    ...(names.length > 0 && { disks: [...new Set(names)] }),
  };
  const change =
    way === 'new' ? restoringPoint(target, point.id, request) : restoringDisks(target, point.id, { how: way, body });
  const isInPlace = way === 'replace-disks';
  const choose = (another: Way): void => {
    setWay(another);
    setName(another === 'new' ? `${original}-restored` : original);
    setContext(undefined);
    setNamespace(undefined);
  };
  return (
    <PlanPanel
      title={t`Restore ${original}`}
      isDanger={isInPlace}
      confirmation={isInPlace ? { text: original, reason: t`The present content of its disks is lost.` } : undefined}
      label={t`Restore`}
      failure={t`Couldn't restore ${original}`}
      choice={JSON.stringify(way === 'new' ? request : { way, ...body })}
      options={
        <>
          <Field label={t`Restore as`} id="restore-way">
            <SelectInput id="restore-way" value={way} onChange={(value) => choose(value as Way)}>
              <option value="new">{t`A new VM`}</option>
              <option value="add-disks" disabled={!canRestoreDisks}>{t`Additional disks of a VM`}</option>
              <option
                value="replace-disks"
                disabled={!canRestoreDisks}
              >{t`Disks in place of those of ${original}`}</option>
            </SelectInput>
          </Field>
          {!isInPlace && (
            <>
              <TextField
                id="restore-name"
                label={way === 'new' ? t`Name` : t`VM`}
                required
                value={name}
                problem={name === '' ? undefined : nameProblem(name)}
                onChange={setName}
              />
              <ContextField
                id="restore-context"
                contexts={contexts}
                ability={ability}
                value={context}
                onChange={(another) => {
                  setContext(another);
                  setNamespace(undefined);
                }}
              />
              <TextField
                id="restore-namespace"
                label={t`Namespace`}
                required={way !== 'new'}
                hint={way === 'new' ? t`Empty for the default of the context` : undefined}
                problem={way !== 'new' && namespace === '' ? t`Enter the namespace of the VM.` : undefined}
                value={namespace}
                onChange={setNamespace}
              />
            </>
          )}
          {way === 'new' ? (
            <>
              <Switch
                id="restore-macs"
                label={t`Keep the addresses of the network cards`}
                isChecked={keepMacs}
                onChange={setKeepMacs}
              />
              {canStartAtOnce && (
                <Switch
                  id="restore-instant"
                  label={t`Start immediately: the VM reads from the backup until its disks are copied, and pauses while the target is away`}
                  isChecked={instant}
                  onChange={setStartsAtOnce}
                />
              )}
            </>
          ) : (
            <TextField
              id="restore-disks"
              label={t`Disks`}
              hint={t`Empty for all, or names such as vda, vdb`}
              value={disks}
              onChange={setDisks}
            />
          )}
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
