import { DomainError } from '@headgate/domain-contracts';
import type { IncusApi } from '../api/incus-api.js';
import type { HostSize } from './limits.js';
import type { Host } from './to-container.js';

export interface Resources {
  readonly cpu: { readonly total: number };
  readonly memory: { readonly total: number };
}

/** The machine of a server: what an instance without limits may use. */
export async function readHost(api: IncusApi, signal?: AbortSignal): Promise<Host> {
  const [{ environment }, resources] = await Promise.all([api.server(), readResources(api, { signal })]);
  return { name: environment?.server_name ?? api.context, ...sizeOfMachine(resources) };
}

export const sizeOfMachine = (resources: Resources | undefined): HostSize => ({
  cpus: resources?.cpu.total ?? 1,
  memoryBytes: resources?.memory.total ?? 0,
});

/**
 * @param options.target a member of the cluster
 * @returns undefined for a certificate that is restricted to projects
 */
export async function readResources(
  api: IncusApi,
  { target, signal }: { readonly target?: string; readonly signal?: AbortSignal } = {},
): Promise<Resources | undefined> {
  try {
    return await api.get<Resources>('/1.0/resources', { target }, signal);
  } catch (error) {
    if (DomainError.is(error, 'BACKEND_FORBIDDEN')) return undefined;
    throw error;
  }
}
