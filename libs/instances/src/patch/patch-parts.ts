import {
  buildPlan,
  describeHardwareChange,
  isVm,
  type Backend,
  type HardwareChange,
  type HardwareEffect,
  type Instance,
  type Plan,
} from '@headgate/domain-contracts';
import { tagChanges, type InstancePatch } from './instance-patch.js';

/** A field of a patch. */
export type PatchField = 'size' | 'autostart' | 'protected' | 'tags';

/** One change of a patch, which succeeds or fails as a whole. */
export interface PatchPart {
  readonly field: PatchField;
  /** The action in the audit log. */
  readonly action: string;
  /** Without steps if there is nothing to change. @throws DomainError NOT_SUPPORTED */
  plan(): Promise<Plan>;
  /** @returns when it takes effect */
  run(): Promise<HardwareEffect>;
}

/**
 * The changes of a patch, those first that are the most likely to fail.
 * @throws DomainError NOT_SUPPORTED when the backend has no such ability
 */
export function partsOf(instance: Instance, backend: Backend, patch: InstancePatch): PatchPart[] {
  const { cpu, memoryBytes, restart, autostart, isProtected } = patch;
  const parts: PatchPart[] = [];
  if (cpu !== undefined || memoryBytes !== undefined)
    parts.push(hardwarePart('size', instance, backend, { kind: 'scale', cpu, memoryBytes, restart }));
  if (autostart !== undefined)
    parts.push(hardwarePart('autostart', instance, backend, { kind: 'set-autostart', isOn: autostart }));
  if (isProtected !== undefined && isVm(instance) && instance.protected !== isProtected)
    parts.push(protectionPart(instance, backend, isProtected));
  for (const [tag, on] of tagChanges(instance.tags, patch)) parts.push(tagPart(instance, backend, tag, on));
  return parts;
}

function hardwarePart(field: PatchField, { ref }: Instance, backend: Backend, change: HardwareChange): PatchPart {
  const hardware = backend.require('hardware');
  return {
    field,
    action: describeHardwareChange(change),
    plan: () => hardware.plan(ref, change),
    run: async () => (await hardware.apply(ref, change)).effect,
  };
}

function protectionPart({ ref }: Instance, backend: Backend, on: boolean): PatchPart {
  const provisioning = backend.require('provisioning');
  const action = on ? 'protect from deletion' : 'remove the protection';
  return simplePart('protected', action, ref.name, () => provisioning.setProtection(ref, on));
}

function tagPart({ ref }: Instance, backend: Backend, tag: string, on: boolean): PatchPart {
  const ability = backend.require(ref.kind === 'vm' ? 'provisioning' : 'containers');
  return simplePart('tags', `${on ? 'add' : 'remove'} tag ${tag}`, ref.name, () => ability.setTag(ref, tag, on));
}

const simplePart = (field: PatchField, action: string, detail: string, set: () => Promise<void>): PatchPart => ({
  field,
  action,
  plan: async () => buildPlan([{ name: action, detail }]),
  run: async () => {
    await set();
    return 'now';
  },
});
