import {
  chooseNamespace,
  DomainError,
  expectInstanceName,
  formatRef,
  matchesNameRule,
  type Backend,
  type BackendDirectory,
  type InstanceDirectory,
  type InstanceKind,
  type InstanceRef,
} from '@headgate/domain-contracts';

export interface InstancePlace {
  readonly kind: InstanceKind;
  readonly name: string;
  readonly namespace?: string;
  readonly context?: string;
}

/** Chooses the backend and the namespace of a new instance. */
export class PlaceInstance {
  constructor(
    private readonly backends: BackendDirectory,
    private readonly directory: InstanceDirectory,
  ) {}

  /** @throws DomainError like `locate`, ALREADY_EXISTS */
  place(place: InstancePlace): { backend: Backend; ref: InstanceRef } {
    const located = this.locate(place);
    const { ref } = located;
    if (this.directory.get(ref)) throw new DomainError('ALREADY_EXISTS', `${formatRef(ref)} already exists.`);
    return located;
  }

  /**
   * The place of an instance that may exist already. The default context is the first configured one, and the default
   * namespace is that of its backend.
   * @throws DomainError CONTEXT_NOT_FOUND, INVALID_NAME, INVALID_INPUT for a namespace that the backend can't have
   */
  locate({ kind, name, namespace, context }: InstancePlace): { backend: Backend; ref: InstanceRef } {
    const backend = context === undefined ? this.first() : this.backends.get(context);
    const ref = {
      kind,
      context: backend.context,
      namespace: expectInstanceName(chooseNamespace(backend.traits, backend.context, namespace), 'namespace'),
      name: expectInstanceName(name),
    };
    const { instanceNames } = backend.traits;
    if (!matchesNameRule(instanceNames, ref.name))
      throw new DomainError('INVALID_NAME', `name must ${instanceNames.description} on ${backend.context}.`);
    return { backend, ref };
  }

  private first(): Backend {
    const [backend] = this.backends.all();
    if (!backend) throw new DomainError('BACKEND_UNREACHABLE', 'No context is configured.');
    return backend;
  }
}
