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
      await untilIdle(api, path);
      await api.clock.delay(UNLOCK_MS * attempt);
    }
  }
}

/** Waits for the operations on an instance that are under way. How they end does not matter. */
async function untilIdle(api: IncusApi, { project, name }: InstancePath): Promise<void> {
  const operations = await api.get<Readonly<Record<string, readonly OperationObject[]>>>('/1.0/operations', {
    recursion: 1,
    project,
  });
  const running = (operations.running ?? []).filter(
    (operation) => operation.class === 'task' && namesInstance(operation, name),
  );
  for (const { id } of running) await api.wait(id).catch(ignoreFailure);
}

function namesInstance({ resources }: OperationObject, name: string): boolean {
  const paths = resources?.instances ?? resources?.containers ?? [];
  return paths.some((path) => path.split('?')[0]?.split('/')[3] === encodeURIComponent(name));
}

function ignoreFailure(error: unknown): void {
  if (DomainError.is(error, 'BACKEND_UNREACHABLE', 'BACKEND_TIMEOUT')) throw error;
}
