import { BackendDirectory, DomainError, type Backend } from '@headgate/domain-contracts';

/** The configured backends. The first one takes new instances that name no context. */
export class Backends extends BackendDirectory {
  constructor(private readonly backends: readonly Backend[]) {
    super();
  }

  override all(): readonly Backend[] {
    return this.backends;
  }

  override get(context: string): Backend {
    const backend = this.backends.find((one) => one.context === context);
    if (backend) return backend;
    const names = this.backends.map((one) => one.context).join(', ');
    throw new DomainError('CONTEXT_NOT_FOUND', `There is no context "${context.slice(0, 80)}"; there are: ${names}.`);
  }
}
