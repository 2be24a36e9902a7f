import { t, plural } from '@lingui/core/macro';
import type { MoveDto, MoveQueuePlanView, VmView } from '@headgate/api-contracts';
import { useState } from 'react';
import { NameList } from '../../../shared/list/components/name-list.js';
import { countLabel } from '../../../shared/list/list-kind.js';
import { nameOfRef } from '../../../shared/bulk/bulk-report.js';
import { MoveDialogFrame } from '../../../shared/moves/components/move-dialog-frame.js';
import { useMoveChoices, useStartMove } from '../../../shared/moves/move-choices.js';
import { moveQueue, useQueuePlan } from '../../../shared/moves/move-requests.js';
import { readableBytes, readableSizes } from '../../../shared/quantity/quantity.js';
import { Alert } from '../../../shared/ui/alert.js';
import { Field, helpId } from '../../../shared/ui/field.js';
import { SelectInput, Switch } from '../../../shared/ui/inputs.js';
import { ServiceText } from '../../../shared/ui/service-text.js';

const LIMITS = ['1', '2', '4', '8'];
const KIND = {
  counted: (count: number) => plural(count, { one: '# VM', other: '# VMs' }),
  plural: 'VMs',
};

/** Moves the selected VMs to another context as a queue. */
export function MoveQueueDialog({ members, onClose }: { members: readonly VmView[]; onClose: () => void }) {
  const { choices, onChange, chosen, isSettled } = useMoveChoices();
  const [perHost, setPerHost] = useState('2');
  const [skipRefused, setSkipRefused] = useState(false);
  // The queue does not change while the selection does.
  const [refs] = useState(() => members.map(({ ref }) => ref));
  const request: MoveDto | undefined = chosen && { refs, ...chosen, perHost: Number(perHost) };
  const plan = useQueuePlan(request);
  const label = countLabel(KIND, members.length);
  const start = useStartMove({
    send: moveQueue,
    title: t`${label} in the queue`,
    body: t`See Tasks to follow or pause it, and to retry failed moves.`,
    onStarted: onClose,
  });
  const canSkip = plan.data?.ok === false && plan.data.members.some(({ ok }) => ok);
  const isReady =
    request !== undefined && isSettled && (plan.data?.ok === true || (canSkip && skipRefused)) && !start.isPending;

  const options = (
    <Field label={t`At the same time on each host`} id="move-per-host">
      <SelectInput id="move-per-host" value={perHost} aria-describedby={helpId('move-per-host')} onChange={setPerHost}>
        {LIMITS.map((limit) => (
          <option key={limit} value={limit}>
            {limit}
          </option>
        ))}
      </SelectInput>
    </Field>
  );
  const concessions = canSkip && (
    <Switch id="move-skip-refused" label={t`Move the others`} isChecked={skipRefused} onChange={setSkipRefused} />
  );

  return (
    <MoveDialogFrame
      labels={{
        title: t`Move ${label}`,
        description: t`Each VM is stopped while it is copied. Its copy is compared with the source before anything is deleted.`,
        submit: t`Move ${label}`,
        deleteSource: t`Delete each source after its copy is verified`,
        failure: t`The queue was not started`,
      }}
      choices={choices}
      onChange={onChange}
      options={options}
      plan={plan}
      renderPlan={(data) => <QueuePlan plan={data} />}
      concessions={concessions}
      isReady={isReady}
      start={start}
      onSubmit={() => request && start.mutate(canSkip ? { ...request, skipRefused } : request)}
      onClose={onClose}
    />
  );
}

function QueuePlan({ plan }: { plan: MoveQueuePlanView }) {
  const { refusals, warnings, members } = plan;
  const movable = members.filter(({ ok }) => ok);
  return (
    <section className="hg-plan" aria-label={t`Planned changes`}>
      {refusals.map(({ ref, code, reason, remedy }) => (
        <Alert key={`${ref} ${code} ${reason}`} variant="danger" title={`${nameOfRef(ref)}: ${readableSizes(reason)}`}>
          <ServiceText>{readableSizes(remedy)}</ServiceText>{' '}
          <small className="hg-api-code" translate="no">
            {code}
          </small>
        </Alert>
      ))}
      {warnings.map((warning) => (
        <Alert key={warning} isPlain variant="warning" title={readableSizes(warning)} />
      ))}
      <NameList
        kind={KIND}
        title={t`The copies will lose some properties`}
        names={movable
          .filter(({ dropped }) => dropped.length > 0)
          .map(({ source, dropped }) => `${nameOfRef(source)}: ${dropped.join(' ')}`)}
      />
      {movable.length > 0 && <p className="hg-note">{t`About ${readableBytes(plan.estimatedBytes)} to copy.`}</p>}
    </section>
  );
}
