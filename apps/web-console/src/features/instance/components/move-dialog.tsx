import { t, plural } from '@lingui/core/macro';
import type { MoveDto, MoveMode, MovePlanView } from '@headgate/api-contracts';
import { useDeferredValue, useState } from 'react';
import { isVm, type Instance } from '../../../shared/instances/instance.js';
import { MoveDialogFrame } from '../../../shared/moves/components/move-dialog-frame.js';
import { useMoveChoices, useStartMove } from '../../../shared/moves/move-choices.js';
import { moveVm, useMovePlan } from '../../../shared/moves/move-requests.js';
import { nameProblem } from '../../../shared/names/name-rule.js';
import { PlanView } from '../../../shared/plans/plan-view.js';
import { readableBytes } from '../../../shared/quantity/quantity.js';
import { Alert } from '../../../shared/ui/alert.js';
import { Field, helpId } from '../../../shared/ui/field.js';
import { SelectInput, TextInput } from '../../../shared/ui/inputs.js';
import { ReasonedButton } from '../../../shared/ui/reasoned-button.js';
import { perLanguage } from '../../../shared/texts/per-language.js';

const notes = perLanguage(() => ({
  vm: t`Copies the VM to another context, or migrates it there while it runs.`,
  container: t`Stops the container, copies its files and its data volume to another context, and starts it there if it ran.`,
}));

/** Opens the dialog that moves a VM or a container to another context. */
export function MoveCard({ vm, refusal }: { vm: Instance; refusal: string | undefined }) {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <section className="hg-card" aria-label={t`Move`}>
      <h2>{t`Move`}</h2>
      <p className="hg-note">{isVm(vm) ? notes().vm : notes().container}</p>
      <ReasonedButton variant="secondary" reason={refusal} onClick={() => setIsOpen(true)}>
        {t`Move…`}
      </ReasonedButton>
      {isOpen && <MoveDialog vm={vm} onClose={() => setIsOpen(false)} />}
    </section>
  );
}

/** Chooses where to move a VM or a container, and shows the plan. */
export function MoveDialog({ vm, onClose }: { vm: Instance; onClose: () => void }) {
  const { choices, onChange, chosen, isSettled } = useMoveChoices();
  const [name, setName] = useState(vm.name);
  const [mode, setMode] = useState<MoveMode>('cold');
  const problem = nameProblem(name);
  // The plan is read when the user pauses, not for each letter.
  const settledName = useDeferredValue(name);
  const cold: MoveDto | undefined =
    chosen && nameProblem(settledName) === undefined ? { ref: vm.ref, ...chosen, name: settledName } : undefined;
  // Only the guest of a VM that runs can be moved in several ways.
  const running = isVm(vm) && vm.status === 'Running' ? cold : undefined;
  const requests: Record<MoveMode, MoveDto | undefined> = {
    cold,
    warm: running && { ...running, mode: 'warm' },
    live: running && { ...running, mode: 'live' },
  };
  const plans = {
    cold: useMovePlan(requests.cold),
    warm: useMovePlan(requests.warm),
    live: useMovePlan(requests.live),
  };
  const [request, plan] = [requests[mode], plans[mode]];
  const start = useStartMove({
    send: moveVm,
    title: t`${vm.name} is being moved`,
    body: t`See Tasks for the progress.`,
    onStarted: onClose,
  });
  const isReady =
    request !== undefined && isSettled && settledName === name && plan.data?.ok === true && !start.isPending;
  const options = (
    <>
      <Field label={t`Name`} id="move-name" required problem={problem}>
        <TextInput
          id="move-name"
          value={name}
          isInvalid={problem !== undefined}
          aria-describedby={helpId('move-name')}
          onChange={setName}
        />
      </Field>
      {running && (
        <Field label={t`Mode`} id="move-mode">
          <SelectInput
            id="move-mode"
            value={mode}
            aria-describedby={helpId('move-mode')}
            onChange={(value) => setMode(value as MoveMode)}
          >
            {MODES.map((one) => (
              <option key={one} value={one} disabled={one !== mode && plans[one].data?.ok !== true}>
                {modeLabel(one, plans[one].data)}
              </option>
            ))}
          </SelectInput>
        </Field>
      )}
    </>
  );

  return (
    <MoveDialogFrame
      kind={isVm(vm) ? 'vm' : 'ct'}
      labels={{
        title: t`Move ${vm.name}`,
        description: t`From ${vm.context}. The copy is compared with the source before anything is deleted.`,
        submit: t`Move`,
        deleteSource: t`Delete the source after the copy is verified`,
        failure: t`Couldn't move ${vm.name}`,
      }}
      choices={choices}
      onChange={onChange}
      options={options}
      plan={plan}
      renderPlan={(data) => <MovePlan plan={data} />}
      isReady={isReady}
      start={start}
      onSubmit={() => request && start.mutate(request)}
      onClose={onClose}
    />
  );
}

function MovePlan({ plan }: { plan: MovePlanView }) {
  return (
    <>
      <PlanView plan={plan} title={t`Planned changes`} />
      {plan.dropped.length > 0 && (
        <Alert isPlain variant="warning" title={t`The copy will not have:`}>
          <ul>
            {plan.dropped.map((one) => (
              <li key={one}>{one}</li>
            ))}
          </ul>
        </Alert>
      )}
      {plan.ok && (
        <p className="hg-note">
          {t`About ${readableBytes(plan.estimatedBytes)} to copy.`}{' '}
          {plan.estimatedDowntimeSeconds !== null &&
            (plan.mode === 'live'
              ? t`The guest pauses for about ${readableDuration(plan.estimatedDowntimeSeconds)}, and continues there.`
              : t`The guest is stopped for ${downtimeOf(plan, plan.estimatedDowntimeSeconds)}, and stays stopped.`)}
        </p>
      )}
    </>
  );
}

const MODES = ['cold', 'warm', 'live'] as const satisfies readonly MoveMode[];
const modeLabels = perLanguage((): Readonly<Record<MoveMode, string>> => ({
  cold: t`Cold`,
  warm: t`Warm`,
  live: t`Live`,
}));

/** With the downtime, or the first reason why this mode is not possible. */
function modeLabel(mode: MoveMode, plan: MovePlanView | undefined): string {
  const label = modeLabels()[mode];
  if (!plan) return label;
  const [refusal] = plan.refusals;
  if (refusal) return `${label} (${refusal.reason})`;
  if (plan.estimatedDowntimeSeconds === null) return label;
  return mode === 'live'
    ? t`${label}: paused for about ${readableDuration(plan.estimatedDowntimeSeconds)}`
    : t`${label}: stopped for about ${readableDuration(plan.estimatedDowntimeSeconds)}`;
}

/** The upper bound is far away while it is not known how long the guest takes to shut down. */
function downtimeOf({ maxDowntimeSeconds }: MovePlanView, seconds: number): string {
  const estimate = t`about ${readableDuration(seconds)}`;
  return maxDowntimeSeconds !== null && maxDowntimeSeconds > 2 * seconds
    ? t`${estimate}, and up to ${readableDuration(maxDowntimeSeconds)} if it shuts down slowly`
    : estimate;
}

function readableDuration(seconds: number): string {
  if (seconds >= 90) return plural(Math.ceil(seconds / 60), { one: '# minute', other: '# minutes' });
  return plural(seconds, { one: '# second', other: '# seconds' });
}
