import type { Refusal } from '@headgate/domain-contracts';
import type { MeetingOperation } from '@headgate/testing';
import type { Reply } from '../test-service.js';

type Operations = readonly MeetingOperation[];

interface Cause {
  /** The code of the refusal, and words of its reason. */
  readonly code: string;
  readonly reason: RegExp;
  readonly asked: Operations;
  /** Operations that make the reason true. */
  readonly because: Operations;
}

const POWER: Operations = ['start', 'stop', 'restart'];
/** They change the running guest by a live migration, which goes on after the response. */
const MIGRATED: Operations = ['hardware', 'scale', 'add-nic', 'change-nic', 'remove-nic'];
const HARDWARE: Operations = [
  ...MIGRATED,
  ...(['attach-volume', 'detach-volume', 'expand-volume', 'set-boot-order', 'set-placement'] as const),
  ...(['attach-host-device', 'detach-host-device', 'change-medium'] as const),
];

/** How an operation that was carried out leads to the refusal of another one by the engine. */
const CAUSES: readonly Cause[] = [
  { code: 'INSTANCE_NOT_FOUND', reason: /./, asked: [], because: ['delete'] },
  { code: 'BUSY', reason: /is being deleted/, asked: [], because: ['delete'] },
  { code: 'BUSY', reason: /migrat/, asked: [...HARDWARE, 'migrate', 'move-disk', 'snapshot'], because: MIGRATED },
  // The cluster attaches and detaches disks of a running guest after the response.
  {
    code: 'BUSY',
    reason: /being attached or detached/,
    asked: ['move-disk'],
    because: ['attach-volume', 'detach-volume'],
  },
  {
    code: 'BUSY',
    reason: /being (stopped|started|restarted)/,
    asked: [...POWER, 'restore'],
    because: [...POWER, 'scale'],
  },
  { code: 'WRONG_STATE', reason: /is not running/, asked: ['restart', 'pause', 'unpause', 'migrate'], because: POWER },
  { code: 'WRONG_STATE', reason: /runs|Starting/, asked: ['export', 'clone', 'template', 'move'], because: ['start'] },
  { code: 'WRONG_STATE', reason: /is a template/, asked: ['start', 'restart'], because: ['template'] },
  { code: 'SOURCE_IS_TEMPLATE', reason: /./, asked: ['move'], because: ['template'] },
  { code: 'NOT_SUPPORTED', reason: /passed through/, asked: ['move'], because: ['attach-host-device'] },
  { code: 'WRONG_STATE', reason: /wait for a restart/, asked: ['move-disk', 'migrate'], because: HARDWARE },
  { code: 'ALREADY_EXISTS', reason: /./, asked: ['add-nic'], because: ['add-nic'] },
  { code: 'ALREADY_EXISTS', reason: /./, asked: ['hardware'], because: ['hardware'] },
  { code: 'ALREADY_EXISTS', reason: /./, asked: ['clone'], because: ['clone'] },
  { code: 'ALREADY_EXISTS', reason: /./, asked: ['snapshot'], because: ['snapshot'] },
  { code: 'DEVICE_NOT_FOUND', reason: /./, asked: ['change-nic', 'remove-nic'], because: ['remove-nic'] },
  { code: 'DEVICE_NOT_FOUND', reason: /./, asked: ['detach-volume'], because: ['detach-volume'] },
  { code: 'DEVICE_NOT_FOUND', reason: /./, asked: ['detach-host-device'], because: ['detach-host-device'] },
  { code: 'SNAPSHOT_NOT_FOUND', reason: /./, asked: ['restore', 'delete-snapshot'], because: ['delete-snapshot'] },
];

/** What the VM has for one operation can be an obstacle to the other one. */
const OBSTACLES: readonly Cause[] = [
  { code: 'NOT_SUPPORTED', reason: /passed through/, asked: ['move'], because: ['detach-host-device'] },
  { code: 'SOURCE_HAS_SNAPSHOTS', reason: /./, asked: ['move'], because: ['restore', 'delete-snapshot'] },
  { code: 'WRONG_STATE', reason: /wait for a restart/, asked: ['move-disk'], because: ['detach-host-device'] },
];

/** How an operation that was carried out ends the task of another one that was accepted after it. */
const ENDS: readonly Omit<Cause, 'code'>[] = [
  { reason: /vmi does not exist/, asked: ['migrate'], because: ['stop', 'restart'] },
  { reason: / runs[,:] /, asked: ['move'], because: ['start'] },
  { reason: /was stopped while its disk was being moved/, asked: ['move-disk'], because: ['stop', 'restart'] },
];

/** Whether an operation was refused for a reason that follows from the other one. */
export const isCausedBy = (reply: Reply, asked: MeetingOperation, other: MeetingOperation): boolean =>
  isAmong(CAUSES, reply, asked, other);

/** Whether an operation was refused for something that the VM has for the other one. */
export const isObstructed = (reply: Reply, asked: MeetingOperation, other: MeetingOperation): boolean =>
  isAmong(OBSTACLES, reply, asked, other);

/** Whether the task of an operation failed because of the other one. */
export const endsTask = (error: string, asked: MeetingOperation, other: MeetingOperation): boolean =>
  ENDS.some((end) => end.reason.test(error) && end.asked.includes(asked) && end.because.includes(other));

function isAmong(causes: readonly Cause[], { json }: Reply, asked: MeetingOperation, other: MeetingOperation): boolean {
  const [refusal] = (json['refusals'] as readonly Refusal[] | undefined) ?? [];
  const { code, reason } = refusal ?? { code: json.code, reason: json.error };
  return causes.some(
    (cause) =>
      cause.code === code &&
      cause.reason.test(reason) &&
      (cause.asked.length === 0 || cause.asked.includes(asked)) &&
      cause.because.includes(other),
  );
}
