import { DomainError } from '@headgate/domain-contracts';
import type { IncusApi } from './incus-api.js';
import type { OperationObject } from './incus-objects.js';

/** The path of one instance. */
export interface InstancePath {
  readonly project: string;
  /** Its name on the server. */
  readonly name: string;
}

/** Other clients may begin an operation in between, but hardly this many in a row. */
const MAX_ATTEMPTS = 6;
/** An operation is unlocked only some moments after it has ended. */
const UNLOCK_MS = 50;

/**
 * Runs a request about an instance. If another operation on the instance keeps it from being carried out, waits for
 * that and runs it again: a server refuses changes, and also some reads, of an instance that it is stopping.
 * @throws DomainError BUSY when the instance does not become idle
 */
export async function whenIdle<T>(api: IncusApi, path: InstancePath, run: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await run();
    } catch (error) {
      if (!DomainError.is(error, 'BUSY') || attempt === MAX_ATTEMPTS) throw error;
      await untilIdle(api, path.project, [path.name]);
      await api.clock.delay(UNLOCK_MS * attempt);
    }
  }
}

/**
 * Waits for the operations on instances and volumes that are under way. How they end does not matter.
 * @param names of the instances and of the volumes
 */
export async function untilIdle(api: IncusApi, project: string, names: readonly string[]): Promise<void> {
  const operations = await api.get<Readonly<Record<string, readonly OperationObject[]>>>('/1.0/operations', {
    recursion: 1,
    project,
  });
  const running = (operations.running ?? []).filter(
    (operation) => operation.class === 'task' && names.some((name) => namesObject(operation, name)),
  );
  for (const { id } of running) await api.wait(id).catch(ignoreFailure);
}

function namesObject({ resources }: OperationObject, name: string): boolean {
  const instances = resources?.instances ?? resources?.containers ?? [];
  // The paths of volumes differ between Incus and LXD: in both, the name is the last part.
  const volumes = resources?.storage_volumes ?? [];
  const encoded = encodeURIComponent(name);
  return (
    instances.some((path) => plain(path).split('/')[3] === encoded) ||
    volumes.some((path) => plain(path).split('/').at(-1) === encoded)
  );
}

/** Without the query. */
const plain = (path: string): string => path.split('?')[0] ?? '';

function ignoreFailure(error: unknown): void {
  if (DomainError.is(error, 'BACKEND_UNREACHABLE', 'BACKEND_TIMEOUT')) throw error;
}
