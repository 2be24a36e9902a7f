import { DomainError, isContainer, isRunningStatus, isVm, type Instance } from '@headgate/domain-contracts';

/**
 * @param purpose completes "Start it to …"
 * @throws DomainError WRONG_STATE for an instance that has no console and no ports, because it does not run
 */
export function expectRunning(instance: Instance, purpose = 'open a console'): void {
  const isRunning = isContainer(instance)
    ? instance.phase === 'Running'
    : isVm(instance) && isRunningStatus(instance.status);
  if (!isRunning) throw new DomainError('WRONG_STATE', `${instance.ref.name} is not running. Start it to ${purpose}.`);
}
