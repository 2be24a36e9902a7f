import { DomainError } from '@headgate/domain-contracts';
import type { LibvirtConnection } from '../connection/libvirt-connection.js';
import type { DomainFinder } from '../domains/domain-finder.js';
import type { StoragePool } from '../storage/storage-pool.js';

/** `insecure` is neither encrypted nor authenticated. */
export type MigrationTransport = 'tls' | 'insecure';

/** A libvirt context as one end of a migration. */
export interface MigrationHost {
  readonly context: string;
  readonly connection: LibvirtConnection;
  readonly finder: DomainFinder;
  readonly pool: StoragePool;
  /**
   * The host name or address at which the other hosts reach this one for migrations. Only there its QEMU accepts them.
   */
  readonly migrationAddress?: string;
  /** How guests come from and go to other machines. Absent: they don't; on one machine they take unix sockets. */
  readonly migrationTransport?: MigrationTransport;
}

/**
 * Finds the host that a request names: by its context, or by the name of its machine, which is the name of its node.
 * @throws DomainError NODE_NOT_FOUND, or WRONG_STATE for the host on which the VM already runs
 */
export async function findHost(
  source: MigrationHost,
  others: readonly MigrationHost[],
  target: string,
): Promise<MigrationHost> {
  const byContext = others.find(({ context }) => context === target);
  if (byContext) return byContext;
  const isSource = target === source.context || target === (await hostName(source));
  // A second context may be the same machine under another name, which libvirt refuses.
  if (isSource) throw new DomainError('WRONG_STATE', `The VM already runs on ${target}; choose another node.`);
  for (const host of others) if ((await hostName(host)) === target) return host;
  const names = others.map(({ context }) => context).join(', ');
  throw new DomainError('NODE_NOT_FOUND', `There is no node ${target} of libvirt; there are the contexts ${names}.`);
}

/** @returns undefined if the host can't be reached */
const hostName = ({ connection }: MigrationHost): Promise<string | undefined> =>
  connection.host.hostname().catch(() => undefined);
