import {
  messageOf,
  UnavailableAbility,
  type Backend,
  type BackendDirectory,
  type BackendKindName,
} from '@headgate/domain-contracts';

export interface Destination {
  readonly backend: BackendKindName;
  readonly context: string;
  /** Whether it can receive VMs. */
  readonly can: boolean;
  /** Why not. */
  readonly reason?: string;
}

/** Lists the contexts that VMs can be moved to, and why the others can't receive any. */
export class ListDestinations {
  constructor(private readonly backends: BackendDirectory) {}

  run(): Promise<Destination[]> {
    return Promise.all(
      this.backends.all().map(async (backend) => {
        const reason = await receivingProblem(backend);
        const { kind, context } = backend;
        return { backend: kind, context, can: reason === undefined, ...(reason !== undefined && { reason }) };
      }),
    );
  }
}

/** Why a backend can't receive VMs; undefined when it can. */
export async function receivingProblem(backend: Backend): Promise<string | undefined> {
  const ingest = backend.ability('diskIngest');
  if (ingest instanceof UnavailableAbility) return ingest.reason;
  try {
    await ingest.check();
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}
