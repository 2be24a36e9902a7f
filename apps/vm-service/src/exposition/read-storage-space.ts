import type { BackendDirectory, StorageSpace } from '@headgate/domain-contracts';

/** The space of a disk, with the context whose VMs have volumes there. */
export interface ContextStorage extends StorageSpace {
  readonly context: string;
}

/** Asks every backend. Those that do not answer are missing. */
export async function readStorageSpace(backends: Pick<BackendDirectory, 'all'>): Promise<ContextStorage[]> {
  const all = backends.all().map(async (backend) => {
    // Throws immediately for a context that is known to be lost.
    const space = await backend.require('cluster').storageSpace();
    return space.map((one) => ({ ...one, context: backend.context }));
  });
  return (await Promise.allSettled(all)).flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
}
