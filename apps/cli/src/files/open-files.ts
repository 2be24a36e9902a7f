import type { FileSessionView } from '@headgate/api-contracts';
import { findBackup, pathOfBackup } from '../backups/find-backup.js';
import type { ApiClient } from '../client/api-client.js';
import { ClientError } from '../client/client-error.js';
import { findAddress } from '../instances/find-instance.js';
import { vmExtension } from '../instances/instance.js';

export interface SourceFlags {
  readonly snapshot?: string;
  readonly target?: string;
  readonly on?: string;
}

/** The files of a backup or of a VM, which a guest of the service reads. */
export interface OpenFiles {
  readonly session: FileSessionView;
  /** Of the session. Its parts have the lists and the content. */
  readonly path: `/api/ext/vms/${string}/${string}/files/${string}` | BackupFilesPath;
  /** What each request needs. */
  readonly query: { readonly context?: string };
}

type BackupFilesPath = `/api/ext/backups/targets/${string}/points/${string}/files/${string}`;

/** The guest that reads the disks has to boot. */
const LONGEST_BOOT_MS = 300_000;
const BACKUP = /^backup:/;

/**
 * Opens the files of a backup, a stopped VM, or a snapshot of a VM. The service returns the same session while it is
 * open, and closes it when it was not used for some minutes.
 * @param source `backup:` and the beginning of an ID, or the name of a VM
 * @throws ClientError
 */
export async function openFiles(api: ApiClient, source: string, flags: SourceFlags): Promise<OpenFiles> {
  return BACKUP.test(source) ? openBackup(api, source.replace(BACKUP, ''), flags) : openVm(api, source, flags);
}

async function openBackup(api: ApiClient, id: string, { snapshot, target, on }: SourceFlags): Promise<OpenFiles> {
  if (snapshot !== undefined) throw ClientError.usage('--snapshot is for VMs only.');
  const found = await findBackup(api, id, target);
  const files = `${pathOfBackup(found)}/files` as const;
  const body = { context: on ?? decodeURIComponent(found.point.ref.split('/')[1] ?? '') };
  const session = await open(api, files, { body });
  return { session, path: `${files}/${session.session}`, query: {} };
}

async function openVm(api: ApiClient, name: string, { snapshot, target, on }: SourceFlags): Promise<OpenFiles> {
  if (target !== undefined || on !== undefined) throw ClientError.usage('--target and --on are for backups only.');
  const address = await findAddress(api, name, 'vm');
  const query = { context: address.context };
  const files = `${vmExtension(address)}/files` as const;
  const session = await open(api, files, { query, body: snapshot === undefined ? {} : { snapshot } });
  return { session, path: `${files}/${session.session}`, query };
}

const open = async (api: ApiClient, path: string, options: object): Promise<FileSessionView> =>
  (await api.http.json<FileSessionView>('POST', path, { ...options, timeoutMs: LONGEST_BOOT_MS })).body;
