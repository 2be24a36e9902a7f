import {
  HARDWARE_CHANGE_FIELDS,
  type HardwareChangeDto,
  type HardwareChangesPlanView,
  type HardwareChangesView,
} from '@headgate/api-contracts';
import {
  DomainError,
  expectInstanceName,
  parseDiskSize,
  parseMemory,
  type HardwareChange,
} from '@headgate/domain-contracts';
import {
  attachChange,
  nicChange,
  placementChange,
  scaleChange,
  type TogetherOutcome,
  type TogetherPlan,
} from '@headgate/instances';
import { presentPlan, presentSteps } from '../platform/change-request.js';
import { presentStatus } from './present-hardware.js';
import { placementSettings } from './present-placement.js';

/** The changes that a request asks for. @throws DomainError INVALID_INPUT and others, with the place of the change */
export const toHardwareChanges = (changes: readonly HardwareChangeDto[], restart: boolean): HardwareChange[] =>
  changes.map((change, index) => {
    const at = `changes[${index}]`;
    expectFields(change, at);
    try {
      return toChange(change, restart);
    } catch (error) {
      if (!DomainError.is(error)) throw error;
      throw new DomainError(error.code, `${at}: ${error.message}`, { cause: error });
    }
  });

/** Each kind has fields of its own. */
function expectFields(change: HardwareChangeDto, at: string): void {
  const fields: readonly string[] = HARDWARE_CHANGE_FIELDS[change.kind];
  const allowed = fields.map((field) => field.replace('!', ''));
  const given = Object.entries(change).flatMap(([field, value]) =>
    field === 'kind' || value === undefined ? [] : [field],
  );
  const unknown = given.find((field) => !allowed.includes(field));
  if (unknown !== undefined) {
    const text = `${at}.${unknown} is not a field of ${change.kind}, which takes ${allowed.join(', ')}.`;
    throw new DomainError('INVALID_INPUT', text);
  }
  const missing = fields.find((field) => field.endsWith('!') && !given.includes(field.slice(0, -1)));
  if (missing !== undefined)
    throw new DomainError('INVALID_INPUT', `${at}.${missing.slice(0, -1)} is missing: ${change.kind} needs it.`);
  if (change.pvc === null && change.kind !== 'change-medium')
    throw new DomainError('INVALID_INPUT', `${at}.pvc must be the name of a volume: only a drive can be empty.`);
}

/** The fields that a kind needs are there. */
function toChange(change: HardwareChangeDto, restart: boolean): HardwareChange {
  const { cpu, mem, size, nad, mac, link, on = false, placement = {}, devices = [], device = '' } = change;
  const { iface = '', drive = '', pvc } = change;
  const volume = pvc ?? '';
  const sizeBytes = size === undefined ? undefined : parseDiskSize(size, 'size');
  switch (change.kind) {
    case 'scale':
      return scaleChange(cpu, mem === undefined ? undefined : parseMemory(mem), restart);
    case 'attach-volume':
      return attachChange(sizeBytes, pvc ?? undefined);
    case 'detach-volume':
      return { kind: 'detach-volume', volume, deleteVolume: change.delete === true };
    case 'expand-volume':
      return { kind: 'expand-volume', volume, sizeBytes: sizeBytes ?? 0 };
    case 'add-nic':
      return { kind: 'add-nic', nic: expectInstanceName(iface, 'iface'), network: nad ?? '', mac };
    case 'change-nic':
      return nicChange(iface, nad, link === undefined ? undefined : link === 'up');
    case 'remove-nic':
      return { kind: 'remove-nic', nic: iface };
    case 'change-medium':
      return { kind: 'change-medium', drive, volume: pvc ?? null };
    case 'set-boot-order':
      return { kind: 'set-boot-order', devices };
    case 'set-autostart':
      return { kind: 'set-autostart', isOn: on };
    case 'set-placement':
      return placementChange(placementSettings(placement), restart);
    case 'attach-host-device':
      return { kind: 'attach-host-device', device };
    case 'detach-host-device':
      return { kind: 'detach-host-device', name: device };
  }
}

export const presentChanges = (outcome: TogetherOutcome): HardwareChangesView => ({
  ...presentStatus('ok')(outcome),
  changes: outcome.changes.map(({ volume, ...applied }) => ({
    ...applied,
    ...(volume !== undefined && { pvc: volume }),
  })),
});

export const presentChangesPlan = (plan: TogetherPlan): HardwareChangesPlanView => ({
  ...presentPlan(plan),
  effect: plan.effect,
  changes: plan.changes.map(({ index, action, before, after, effect, steps, warnings, refusals }) => ({
    index,
    action,
    before,
    after,
    effect,
    steps: presentSteps(steps),
    warnings: [...warnings],
    refusals: [...refusals],
  })),
});
