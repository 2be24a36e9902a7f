import type { BackupPointView, BackupTargetView } from '@headgate/api-contracts';
import type { ApiClient } from '../client/api-client.js';
import { ClientError } from '../client/client-error.js';
import { EXIT_CODES } from '../exit-codes.js';

/** A backup with the target that has it. */
export interface FoundBackup {
  readonly target: BackupTargetView;
  readonly point: BackupPointView;
}

const BEGINNING_OF_ID = /^[0-9a-f]{6,64}$/;

export const pathOfTarget = ({ id }: BackupTargetView) => `/api/ext/backups/targets/${id}` as const;
export const pathOfBackup = ({ target, point }: FoundBackup) => `${pathOfTarget(target)}/points/${point.id}` as const;

/** The target of the name, or all targets without one. @throws ClientError if there is none */
export async function findTargets(api: ApiClient, name?: string): Promise<readonly BackupTargetView[]> {
  const targets = await api.get('/api/ext/backups/targets');
  const found = name === undefined ? targets : targets.filter((target) => target.name === name || target.id === name);
  if (found.length > 0) return found;
  throw new ClientError(
    'BACKUP_TARGET_NOT_FOUND',
    name === undefined
      ? 'The service has no backup target.'
      : `There is no backup target "${name}". There are: ${namesOf(targets)}.`,
    EXIT_CODES.notFound,
  );
}

/** The target that a new backup goes to. @throws ClientError if there is none, or several to choose from */
export async function chooseTarget(api: ApiClient, name?: string): Promise<BackupTargetView> {
  const targets = await findTargets(api, name);
  const [first] = targets;
  if (!first || targets.length > 1) throw ClientError.usage(`Choose a target with --target: ${namesOf(targets)}.`);
  return first;
}

/** The backups in the targets, the newest first. @param ref only those of this VM */
export async function listBackups(
  api: ApiClient,
  targets: readonly BackupTargetView[],
  ref?: string,
): Promise<FoundBackup[]> {
  const query = ref === undefined ? {} : { ref };
  const found: FoundBackup[] = [];
  for (const target of targets)
    for (const point of await api.get(`${pathOfTarget(target)}/points`, { query })) found.push({ target, point });
  return found.sort((a, b) => Date.parse(b.point.time) - Date.parse(a.point.time));
}

/**
 * The one backup whose ID begins so.
 * @throws ClientError when none or several match
 */
export async function findBackup(api: ApiClient, id: string, targetName?: string): Promise<FoundBackup> {
  if (!BEGINNING_OF_ID.test(id))
    throw ClientError.usage(`"${id}" is not the ID of a backup. Use the beginning of one, at least 6 characters.`);
  const all = await listBackups(api, await findTargets(api, targetName));
  const found = all.filter(({ point }) => point.id.startsWith(id));
  const [first] = found;
  if (!first) throw new ClientError('BACKUP_POINT_NOT_FOUND', `There is no backup "${id}".`, EXIT_CODES.notFound);
  if (found.length === 1) return first;
  const ids = found.map(({ target, point }) => `${point.id} in ${target.name}`).join(', ');
  throw new ClientError(
    'AMBIGUOUS_BACKUP',
    `"${id}" is the beginning of several IDs: ${ids}. Use more of it, or --target.`,
    EXIT_CODES.conflict,
  );
}

/** The context that had the VM. */
export const contextOf = ({ point }: FoundBackup): string => decodeURIComponent(point.ref.split('/')[1] ?? '');

const namesOf = (targets: readonly BackupTargetView[]): string => targets.map(({ name }) => name).join(', ');
