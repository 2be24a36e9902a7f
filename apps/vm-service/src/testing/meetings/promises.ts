import { meetingOf, ruleOf, type Operation, type Refusal } from '@headgate/domain-contracts';
import type { MeetingOperation } from '@headgate/testing';
import type { Reply } from '../test-service.js';
import { endsTask, isCausedBy, isObstructed } from './causes.js';
import type { Meeting } from './cluster-meetings.js';

/** Operations that the simulated cluster refuses on every VM, with the status and the code. */
export const UNSUPPORTED: Partial<Record<MeetingOperation, readonly [status: number, code: string]>> = {
  // The VMs have no drive.
  'change-medium': [404, 'DEVICE_NOT_FOUND'],
  'set-autostart': [501, 'NOT_SUPPORTED'],
  'delete-checkpoint': [501, 'NOT_SUPPORTED'],
  'export-running': [501, 'NOT_SUPPORTED'],
  'guest-password': [501, 'NOT_SUPPORTED'],
  'guest-command': [501, 'NOT_SUPPORTED'],
};

/** How long a request waits for another one before it is refused. */
const MAX_WAIT_MS = 10_000;

/** Two of them want the same name. */
const TAKE_A_NAME: readonly MeetingOperation[] = ['clone', 'move'];

type Which = 'first' | 'second';

/** The promises of the table of operations, and of the API, that a meeting broke. */
export function violationsOf(meeting: Meeting): string[] {
  const violations = [
    ...answerViolations(meeting, 'first', 'second'),
    ...answerViolations(meeting, 'second', 'first'),
    ...heldViolations(meeting),
    ...taskViolations(meeting, 'first'),
    ...taskViolations(meeting, 'second'),
    ...lostChanges(meeting),
  ];
  const { first, second, moment, state, answers } = meeting;
  const text = `${first} and ${second} of a VM that was ${state}, ${moment}`;
  const said = [answers.first, answers.second].map(({ status, body }) => `${status} ${status < 300 ? '' : body}`);
  return violations.map((violation) => `${text}: ${violation} (${said.join('; ')})`);
}

const isAcknowledged = ({ status }: Reply): boolean => status < 300;

/** An operation is carried out, or refused for a reason that is true. */
function answerViolations(meeting: Meeting, which: Which, other: Which): string[] {
  const asked = meeting[which];
  const met = meeting[other];
  const reply = meeting.answers[which];
  const unsupported = UNSUPPORTED[asked];
  if (isAcknowledged(reply)) return unsupported ? [`${asked} was carried out`] : [];
  if (unsupported?.[0] === reply.status && unsupported[1] === reply.json.code) return [];
  if (isObstructed(reply, asked, met)) return [];
  const busy = busyReason(reply);
  const meets = met === asked && TAKE_A_NAME.includes(asked) ? 'refused' : meetingOf(met, asked);
  const isLate = meets === 'waits' && meeting.waitedMs[which] >= MAX_WAIT_MS;
  if (busy?.names(met) && isLate) return [];
  const isOtherRefused = !isAcknowledged(meeting.answers[other]);
  if (isOtherRefused && !isObstructed(meeting.answers[other], met, asked))
    return [`${asked} was refused, and so was ${met}`];
  if (which === 'first' && meeting.moment !== 'together' && meeting.isFirstAnswered)
    return [`${asked} was refused before anything else was requested`];
  if (!busy) return isCausedBy(reply, asked, met) ? [] : [`${asked} was refused without a cause`];
  const violations: string[] = [];
  if (!busy.names(met)) violations.push(`${asked} was refused for something else`);
  if (meets !== 'refused') violations.push(`${asked} was refused during ${met}`);
  const task = meeting.answers[other].json['task'];
  if (busy.task !== undefined && busy.task !== task) violations.push(`${String(busy.task)} was named`);
  return violations;
}

interface BusyReason {
  readonly names: (operation: Operation) => boolean;
  readonly task?: unknown;
}

/** The reason of a refusal by the ledger. The engine has reasons of its own, which name no operation. */
function busyReason({ json }: Reply): BusyReason | undefined {
  const [refusal] = (json['refusals'] as readonly Refusal[] | undefined) ?? [];
  if (json.code === 'MOVE_REFUSED' && ['BUSY', 'MOVE_IN_PROGRESS'].includes(refusal?.code ?? '')) {
    const task = /\(task ([^)]+)\)/.exec(refusal?.reason ?? '')?.[1];
    const isDeleted = refusal?.reason.endsWith('is being deleted.') === true;
    const names = (operation: Operation): boolean =>
      isDeleted ? operation === 'delete' : refusal?.reason.includes(`is busy with ${ruleOf(operation).label}`) === true;
    return { names, task };
  }
  const details = json['details'] as { readonly action?: Operation; readonly task?: unknown } | undefined;
  if (json.code !== 'BUSY' || details?.action === undefined) return undefined;
  return { names: (operation) => details.action === operation, task: details.task };
}

/** While the cluster does nothing, an operation excludes the other one until it has ended. */
function heldViolations({ moment, first, second, answers, ...meeting }: Meeting): string[] {
  if (moment !== 'held' || meetingOf(first, second) === 'both' || UNSUPPORTED[first] || UNSUPPORTED[second]) return [];
  const isOpen = !meeting.isFirstAnswered || meeting.isFirstTaskOpen;
  if (!isOpen) return [];
  const busy = busyReason(answers.second);
  if (ruleOf(first).lasts === 'request')
    return meeting.isSecondAnsweredHeld && meeting.waitedMs.second < MAX_WAIT_MS
      ? [`${second} did not wait for ${first}`]
      : [];
  if (!busy) return [`${second} was not refused during ${first}`];
  return meeting.isFirstTaskOpen && busy.task !== answers.first.json['task']
    ? [`the task of ${first} was not named`]
    : [];
}

/** A task that was acknowledged ends, and fails for no other reason than the other operation. */
function taskViolations({ tasks, answers, ...meeting }: Meeting, which: Which): string[] {
  const task = tasks[which];
  const id = answers[which].json['task'];
  if (id === undefined || !isAcknowledged(answers[which])) return [];
  if (task?.status === 'done') return [];
  const other = meeting[which === 'first' ? 'second' : 'first'];
  if (task?.status === 'error' && endsTask(task.error, meeting[which], other)) return [];
  return [`the task of ${meeting[which]} is ${String(task?.status)}: ${String(task?.error)}`];
}

/** Acknowledged changes that are missing after everything has ended. */
function lostChanges({ entries, snapshots, tasks, ...meeting }: Meeting): string[] {
  const isDone = (operation: MeetingOperation): boolean =>
    (['first', 'second'] as const).some(
      (which) =>
        meeting[which] === operation && isAcknowledged(meeting.answers[which]) && tasks[which]?.status !== 'error',
    );
  const { name } = meeting.vm;
  const vm = entries.find((entry) => entry.name === name);
  if (isDone('delete')) return vm ? [`${name} was not deleted`] : [];
  if (!vm) return [`${name} is gone`];
  const expected: readonly (readonly [operation: MeetingOperation, isTrue: boolean])[] = [
    ['tag', vm.tags.includes('prod')],
    ['patch', vm.tags.includes('patched')],
    // A restore brings the size back that the VM had.
    ['scale', vm.cpu === 3 || isDone('restore')],
    ['template', vm.isTemplate],
    ['clone', entries.some((entry) => entry.name === `${name}-copy`)],
    ['move', entries.some((entry) => entry.name === `${name}-moved` && entry.context === 'other')],
    ['snapshot', snapshots.includes(`${name}-two`)],
    ['delete-snapshot', !snapshots.includes(`${name}-one`)],
    ['start', vm.status !== 'Stopped' || isDone('stop') || isDone('restore')],
    ['stop', vm.status === 'Stopped' || isDone('start')],
  ];
  return expected
    .filter(([operation, isTrue]) => isDone(operation) && !isTrue)
    .map(([operation]) => `${operation} is lost`);
}
