import { DomainError, refusal, type Refusal } from '@headgate/domain-contracts';
import type { StorageOperations } from '../connection/storage-operations.js';
import { attribute, element, parseXml, text } from '../xml/xml.js';

/** Pools whose volumes are files. */
const FILE_POOLS = ['dir', 'fs', 'netfs'];

/** The folder of an active pool whose volumes are files, or why there is none. */
export async function findFilePool(
  storage: StorageOperations,
  name: string,
): Promise<{ readonly path: string } | Refusal> {
  const missing = refusal(
    'VOLUME_NOT_FOUND',
    `There is no active storage pool ${name}.`,
    'Name an active pool of libvirt.',
  );
  if (!(await storage.activePools()).includes(name)) return missing;
  let pool;
  try {
    pool = element(parseXml(await storage.poolXml(name)), 'pool');
  } catch (error) {
    if (DomainError.is(error, 'VOLUME_NOT_FOUND')) return missing;
    throw error;
  }
  const path = text(element(pool, 'target'), 'path');
  if (path !== undefined && FILE_POOLS.includes(attribute(pool, 'type') ?? '')) return { path };
  return refusal('NOT_SUPPORTED', `The volumes of the storage pool ${name} are not files.`, 'Name a directory pool.');
}
