import {
  DomainError,
  formatRef,
  isVm,
  type Instance,
  type InstanceDirectory,
  type InstanceQuery,
  type Operation,
} from '@headgate/domain-contracts';

/** An instance that can be changed. @throws DomainError INSTANCE_NOT_FOUND; BUSY while it is being deleted */
export function findChangeable(directory: InstanceDirectory, query: InstanceQuery): Instance {
  const instance = directory.resolve(query);
  if (isVm(instance) && instance.status === 'Terminating')
    throw new DomainError('BUSY', `${instance.ref.name} is being deleted; wait until it is gone.`, {
      details: { ref: formatRef(instance.ref), action: 'delete' satisfies Operation },
    });
  return instance;
}
