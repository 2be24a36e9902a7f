import type { FileSessionView } from '@headgate/api-contracts';
import { contextOf, findBackup, pathOfBackup } from '../backups/find-backup.js';
import type { ApiClient } from '../client/api-client.js';
import { ClientError } from '../client/client-error.js';
import { findAddress } from '../instances/find-instance.js';
import { ctExtension, vmExtension, type InstanceAddress } from '../instances/instance.js';

export interface SourceFlags {
  readonly snapshot?: string;
  readonly target?: string;
  readonly on?: string;
}

/** Files that the service can read. */
export interface OpenFiles {
  /** The volumes on the disks of a backup or a VM. Absent for a container, which has one tree. */
  readonly volumes?: FileSessionView['volumes'];
  /** The lists and the content are below it. */
  readonly path: string;
  /** What each request needs. */
  readonly query: { readonly context?: string };
}

/** What has the files, before anything is opened. */
export interface FileSource {
  readonly hasVolumes: boolean;
  /**
   * Lets the service boot a guest that reads the disks. It returns the same session while that is open, and closes it
   * when it was not used for some minutes.
   */
  open(): Promise<OpenFiles>;
}

/** The guest that reads the disks has to boot. */
const LONGEST_BOOT_MS = 300_000;
const BACKUP = /^backup:/;

/**
 * Finds a backup, a VM or a container.
 * @param source `backup:` and the beginning of an ID, or the name of an instance
 * @throws ClientError
 */
export async function findSource(api: ApiClient, source: string, flags: SourceFlags): Promise<FileSource> {
  const { snapshot, target, on } = flags;
  if (BACKUP.test(source)) {
    if (snapshot !== undefined) throw ClientError.usage('--snapshot is for VMs only.');
    return backupSource(api, source.replace(BACKUP, ''), flags);
  }
  if (target !== undefined || on !== undefined) throw ClientError.usage('--target and --on are for backups only.');
  const address = await findAddress(api, source);
  if (address.kind === 'vm') return vmSource(api, address, snapshot);
  if (snapshot !== undefined) throw ClientError.usage('--snapshot is for VMs only.');
  const { context } = address;
  return {
    hasVolumes: false,
    open: async () => ({ path: `${ctExtension(address)}/files`, query: { context } }),
  };
}

async function backupSource(api: ApiClient, id: string, { target, on }: SourceFlags): Promise<FileSource> {
  const found = await findBackup(api, id, target);
  const files = `${pathOfBackup(found)}/files` as const;
  const body = { context: on ?? contextOf(found) };
  return { hasVolumes: true, open: () => openSession(api, files, { query: {}, body }) };
}

function vmSource(api: ApiClient, address: InstanceAddress, snapshot: string | undefined): FileSource {
  const body = snapshot === undefined ? {} : { snapshot };
  const files = `${vmExtension(address)}/files` as const;
  return { hasVolumes: true, open: () => openSession(api, files, { query: { context: address.context }, body }) };
}

async function openSession(
  api: ApiClient,
  path: string,
  { query, body }: { readonly query: OpenFiles['query']; readonly body: object },
): Promise<OpenFiles> {
  const options = { query, body, timeoutMs: LONGEST_BOOT_MS };
  const { session, volumes } = (await api.http.json<FileSessionView>('POST', path, options)).body;
  return { volumes, path: `${path}/${session}`, query };
}
