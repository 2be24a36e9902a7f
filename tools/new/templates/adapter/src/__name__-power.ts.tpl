import { DomainError, InstancePower, type InstanceRef, type PowerAction } from '@headgate/domain-contracts';

/** InstancePower over __name__. */
export class __Name__Power extends InstancePower {
  override async apply(ref: InstanceRef, action: PowerAction): Promise<void> {
    throw new DomainError('NOT_SUPPORTED', `__name__ cannot ${action} ${ref.name} yet.`);
  }
}
