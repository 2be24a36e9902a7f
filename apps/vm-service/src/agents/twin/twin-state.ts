import { isVm, type Instance } from '@headgate/domain-contracts';
import type { TwinState } from '@headgate/rehearsals';

export function stateOf(instance: Instance): TwinState {
  const { node, cpu, memoryBytes, tags, reason } = instance;
  const ofVm = isVm(instance) ? { diskBytes: instance.diskBytes } : {};
  return {
    status: isVm(instance) ? instance.status : instance.phase,
    ...(node !== undefined && { node }),
    cpu,
    memoryBytes,
    ...ofVm,
    tags,
    restartRequired: isVm(instance) && instance.restartRequired,
    ...(reason !== undefined && { reason }),
  };
}

/** Null for an instance that does not exist. */
export const stateOrNull = (instance: Instance | undefined): TwinState | null => (instance ? stateOf(instance) : null);

export const isSameState = (a: TwinState | null, b: TwinState | null): boolean =>
  JSON.stringify(a) === JSON.stringify(b);
