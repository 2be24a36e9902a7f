import { DomainError, type InstanceRef } from '@headgate/domain-contracts';
import { conditionOf, isTrue } from '../api/kube-object.js';
import type { VmiObject } from '../api/object-types.js';

/**
 * Checks whether a guest that runs may leave its node, wherever it goes.
 * @throws DomainError WRONG_STATE, BUSY for problems that KubeVirt would report later, or less clearly
 */
export function expectMigratableGuest(ref: InstanceRef, vmi: VmiObject): void {
  const { conditions, migrationState } = vmi.status ?? {};
  const migratable = conditionOf(conditions, 'LiveMigratable');
  if (migratable?.status === 'False') {
    throw new DomainError('WRONG_STATE', `${ref.name} can't be migrated: ${migratable.message ?? migratable.reason}.`);
  }
  if (migrationState?.startTimestamp && !migrationState.completed && !migrationState.failed) {
    throw alreadyMigrating(ref);
  }
  if (isTrue(conditions, 'VolumesChange'))
    throw new DomainError('BUSY', `A disk of ${ref.name} is being moved, which migrates the VM.`);
  const pin = vmi.spec?.nodeSelector?.['kubernetes.io/hostname'];
  if (pin !== undefined) {
    throw new DomainError('WRONG_STATE', `${ref.name} was created for the node ${pin} and may run on no other.`);
  }
}

export const alreadyMigrating = ({ name }: InstanceRef, cause?: unknown): DomainError =>
  new DomainError('BUSY', `${name} is already being migrated; wait until that is done.`, { cause });
