import {
  DomainError,
  isContainer,
  parseRef,
  type Container,
  type Containers,
  type ContainerTransfer,
  type InstanceRef,
  type TransferEnd,
} from '@headgate/domain-contracts';
import type { MoveInput } from '../move-input.js';
import type { MoveEndsDeps } from './move-ends.js';

/** Both ends of the move of one container. The abilities are looked up when they are used. */
export class ContainerEnds {
  readonly source: TransferEnd;
  readonly target: TransferEnd;
  private readonly uid: string;

  constructor(
    private readonly deps: MoveEndsDeps,
    { id, source, destination, uid }: MoveInput,
  ) {
    this.source = { id, ref: parseRef(source) };
    this.target = { id, ref: parseRef(destination) };
    this.uid = uid;
  }

  get ref(): InstanceRef {
    return this.source.ref;
  }

  get sender(): ContainerTransfer {
    return this.deps.backends.get(this.ref.context).requireFor('ct', 'containerTransfer');
  }

  get receiver(): ContainerTransfer {
    return this.deps.backends.get(this.target.ref.context).requireFor('ct', 'containerTransfer');
  }

  /** Those of the context in which the container of the ref is. */
  containersOf({ context }: InstanceRef): Containers {
    return this.deps.backends.get(context).require('containers');
  }

  /** The container at the source. Undefined when it is gone, or when another one has its name. */
  get container(): Container | undefined {
    const found = this.deps.directory.get(this.ref);
    return found && isContainer(found) && found.uid === this.uid ? found : undefined;
  }

  /** @throws DomainError INSTANCE_NOT_FOUND when it is gone, or when another one has its name */
  expectContainer(): Container {
    const { container } = this;
    if (container) return container;
    throw new DomainError('INSTANCE_NOT_FOUND', `${this.ref.name} was deleted during the move.`);
  }

  /** @throws DomainError INSTANCE_NOT_FOUND, WRONG_STATE when it was started meanwhile */
  expectStopped(): void {
    const { phase, ref } = this.expectContainer();
    if (phase !== 'Stopped')
      throw new DomainError('WRONG_STATE', `${ref.name} is ${phase}: it was started during the move.`);
  }

  /** Waits, up to a limit, until the list shows a phase of the container of the ref. */
  untilPhase(ref: InstanceRef, isMet: (phase: Container['phase'] | undefined) => boolean, timeoutMs?: number) {
    return this.deps.directory.waitFor(
      ref,
      (found) => isMet(found && isContainer(found) ? found.phase : undefined),
      timeoutMs,
    );
  }
}
