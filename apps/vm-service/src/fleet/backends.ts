import { BackendDirectory, DomainError, type Backend } from '@headgate/domain-contracts';

/** The backends of the service. The first one takes new instances that name no context. */
export class Backends extends BackendDirectory {
  private readonly backends: Backend[];

  constructor(configured: readonly Backend[]) {
    super();
    this.backends = [...configured];
  }

  override all(): readonly Backend[] {
    return this.backends;
  }

  override get(context: string): Backend {
    const backend = this.find(context);
    if (backend) return backend;
    const names = this.backends.map((one) => one.context).join(', ');
    throw new DomainError('CONTEXT_NOT_FOUND', `There is no context "${context.slice(0, 80)}"; there are: ${names}.`);
  }

  find(context: string): Backend | undefined {
    return this.backends.find((one) => one.context === context);
  }

  /** Adds one behind the others. */
  add(backend: Backend): void {
    if (this.find(backend.context)) throw new Error(`there is a context ${backend.context} already`);
    this.backends.push(backend);
  }

  remove(context: string): void {
    const index = this.backends.findIndex((one) => one.context === context);
    if (index >= 0) this.backends.splice(index, 1);
  }

  /**
   * Removes one for as long as another takes its place.
   * @returns puts the other one, or by default the same again, where it was
   */
  takeOut(context: string): (next?: Backend) => void {
    const index = this.backends.findIndex((one) => one.context === context);
    const [former] = index < 0 ? [] : this.backends.splice(index, 1);
    return (next = former) => {
      if (next) this.backends.splice(index < 0 ? this.backends.length : index, 0, next);
    };
  }
}
