import {
  DomainError,
  isVm,
  type BulkAction,
  type Instance,
  type InstanceDirectory,
  type InstanceRef,
} from '@headgate/domain-contracts';

/** The actions after which an instance becomes ready. */
export const READY_ACTIONS: ReadonlySet<BulkAction> = new Set(['start', 'restart']);

/** A guest without an agent may restart without any sign of it. */
const SIGN_LIMIT_MS = 60_000;
const READY_LIMIT_MS = 10 * 60_000;

/**
 * Waits until an instance that was started or restarted is ready: it runs, and its guest agent is connected if it was
 * before.
 */
export class MemberReadiness {
  constructor(private readonly directory: InstanceDirectory) {}

  /**
   * Carries out the action, and waits for at most 11 minutes.
   * @throws DomainError those of the action; WRONG_STATE when it is not ready in time; INSTANCE_NOT_FOUND when it was
   *   deleted meanwhile
   */
  async after<Result>(ref: InstanceRef, action: BulkAction, act: () => Promise<Result>): Promise<Result> {
    const before = this.directory.get(ref);
    const result = await act();
    if (before) await this.whenReady(before, action);
    return result;
  }

  private async whenReady(before: Instance, action: BulkAction): Promise<void> {
    const { directory } = this;
    const { ref, uid } = before;
    const needsAgent = isVm(before) && before.agentConnected;
    const isGone = (instance: Instance | undefined): instance is undefined => instance?.uid !== uid;
    const isUp = (instance: Instance): boolean =>
      isVm(instance)
        ? (instance.status === 'Running' || instance.status === 'Migrating') && (!needsAgent || instance.agentConnected)
        : instance.phase === 'Running';
    // The guest still runs when the request for its restart is accepted.
    if (action === 'restart')
      await directory.waitFor(ref, (instance) => isGone(instance) || !isUp(instance), SIGN_LIMIT_MS);
    await directory.waitFor(ref, (instance) => isGone(instance) || isUp(instance), READY_LIMIT_MS);
    const instance = directory.get(ref);
    if (isGone(instance))
      throw new DomainError('INSTANCE_NOT_FOUND', `${ref.name} was deleted before it was ready after the ${action}.`);
    if (!isUp(instance))
      throw new DomainError('WRONG_STATE', `${ref.name} is not ready 10 min after the ${action}: ${lackOf(instance)}`);
  }
}

function lackOf(instance: Instance): string {
  if (!isVm(instance)) return `it is ${instance.phase}.`;
  return instance.status === 'Running' ? 'its guest agent is not connected.' : `it is ${instance.status}.`;
}
