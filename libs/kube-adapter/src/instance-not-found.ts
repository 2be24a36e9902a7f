import { DomainError, type InstanceRef } from '@headgate/domain-contracts';

/** The instance is not there, or not any more. */
export const instanceNotFound = ({ kind, context, namespace, name }: InstanceRef): DomainError =>
  new DomainError(
    'INSTANCE_NOT_FOUND',
    `There is no ${kind === 'vm' ? 'VM' : 'container'} ${name} in the namespace ${namespace} of ${context}.`,
  );
