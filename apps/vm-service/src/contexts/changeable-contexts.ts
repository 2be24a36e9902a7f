import {
  busyRefusal,
  DomainError,
  type AddedContext,
  type Refusal,
  type Reservations,
} from '@headgate/domain-contracts';
import type { AddedContexts } from '../fleet/added-contexts.js';
import type { Backends } from '../fleet/backends.js';

/** The contexts that requests may change or remove, and the operations that forbid it. */
export class ChangeableContexts {
  constructor(
    private readonly added: Pick<AddedContexts, 'stored' | 'reasonOf'>,
    private readonly backends: Pick<Backends, 'find'>,
    private readonly reservations: Pick<Reservations, 'inContext'>,
  ) {}

  /** @throws DomainError CONFLICT for a context of the configuration, ADDED_CONTEXT_NOT_FOUND */
  find(name: string, action: 'change' | 'remove'): AddedContext {
    const stored = this.added.stored().find((one) => one.name === name);
    if (stored) {
      if (action === 'remove' || this.isUsed(name) || !this.backends.find(name)) return stored;
      throw new DomainError(
        'CONFLICT',
        `The configuration has a context "${name}", which is used instead: change it there, or remove the added one.`,
      );
    }
    if (!this.backends.find(name)) {
      throw new DomainError('ADDED_CONTEXT_NOT_FOUND', `There is no context "${name}" that was added.`);
    }
    throw new DomainError(
      'CONFLICT',
      `The context "${name}" is from the configuration file, the command line, or was found when the service started: ${action} it there, and restart the service.`,
    );
  }

  /** A stored context is not used when it could not be opened, or when the configuration has one of its name. */
  isUsed(name: string): boolean {
    return this.added.reasonOf(name) === undefined && this.backends.find(name) !== undefined;
  }

  /** The operations that use an instance of the context, also as the destination of a move. */
  refusals(name: string): Refusal[] {
    return this.isUsed(name) ? this.reservations.inContext(name).map(busyRefusal) : [];
  }
}
