import {
  messageOf,
  UnavailableAbility,
  type Backend,
  type BackendDirectory,
  type BackendKindName,
  type InstanceKind,
} from '@headgate/domain-contracts';

export interface Destination {
  readonly backend: BackendKindName;
  readonly context: string;
  /** Whether it can receive instances of that kind. */
  readonly can: boolean;
  /** Why not. */
  readonly reason?: string;
}

/** Lists the contexts that instances can be moved to, and why the others can't receive any. */
export class ListDestinations {
  constructor(private readonly backends: BackendDirectory) {}

  run(instances: InstanceKind = 'vm'): Promise<Destination[]> {
    return Promise.all(
      this.backends.all().map(async (backend) => {
        const reason = await receivingProblem(backend, instances);
        const { kind, context } = backend;
        return { backend: kind, context, can: reason === undefined, ...(reason !== undefined && { reason }) };
      }),
    );
  }
}

/** Why a backend can't receive instances of a kind; undefined when it can. */
export async function receivingProblem(backend: Backend, kind: InstanceKind): Promise<string | undefined> {
  const ingest = kind === 'vm' ? backend.ability('diskIngest') : backend.abilityFor('ct', 'containerTransfer');
  if (ingest instanceof UnavailableAbility) return ingest.reason;
  try {
    await ingest.check();
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}
