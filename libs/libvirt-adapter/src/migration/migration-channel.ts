import { rm } from 'node:fs/promises';
import { refusal, type Refusal } from '@headgate/domain-contracts';
import type { MigrationParameter } from '../connection/migration-operations.js';
import { isRemote } from '../host/host.js';
import { qemuUser } from '../storage/qemu-user.js';
import type { VolumeOwner } from '../storage/storage-pool.js';
import type { MigrationHost } from './migration-host.js';
import { MigrationFlag } from './run-migration.js';

/** The way on which the memory and the disks of a guest reach the destination. */
export type MigrationChannel =
  /** Sockets in a folder of the destination's pool, which only QEMU's user enters. */
  | { readonly kind: 'sockets'; readonly folder: string; readonly owner?: VolumeOwner }
  /** TCP at one address of the destination. Both QEMUs prove with certificates who they are. */
  | { readonly kind: 'tls'; readonly address: string }
  /** TCP at one address of the destination, which anyone on its network reads and writes. */
  | { readonly kind: 'insecure'; readonly address: string };

export interface ChosenChannel {
  readonly channel?: MigrationChannel;
  readonly refusals: readonly Refusal[];
  readonly warnings: readonly string[];
}

/** Longer paths of sockets are refused by the kernel. */
const MAX_SOCKET_PATH_BYTES = 107;

const refuse = (reason: string, remedy: string): ChosenChannel => ({
  refusals: [refusal('WRONG_STATE', reason, remedy)],
  warnings: [],
});

/** QEMU's own servers for disks and memory know no password, so the way to them has to keep others away. */
export async function chooseChannel(
  source: MigrationHost,
  destination: MigrationHost,
  uuid: string,
): Promise<ChosenChannel> {
  const { context, migrationTransport: transport, migrationAddress: address } = destination;
  if (transport === source.migrationTransport && transport !== undefined) {
    if (address === undefined)
      return refuse(
        `migrationAddress of the context ${context} is not set, so its QEMU would accept the migration on all addresses.`,
        `Set migrationAddress of ${context} to its address in the network for migrations.`,
      );
    return {
      channel: { kind: transport, address },
      refusals: [],
      warnings: warningsOf(transport, source, destination),
    };
  }
  if ([source, destination].some(({ connection }) => isRemote(connection.uri)))
    return refuse(
      `Others on the network could read and change the guest on its way from ${source.context} to ${context}: they are different machines, and migrationTransport is not tls in both contexts.`,
      'Install certificates for QEMU on both machines and set migrationTransport: tls in both contexts, or stop the VM and move it.',
    );
  return chooseSockets(source, destination, uuid);
}

const warningsOf = (transport: 'tls' | 'insecure', source: MigrationHost, { context }: MigrationHost): string[] =>
  transport === 'tls'
    ? []
    : [
        `migrationTransport is insecure: while the guest moves from ${source.context} to ${context}, everyone on their network can read its memory and disks, and write into its disks.`,
      ];

async function chooseSockets(source: MigrationHost, destination: MigrationHost, uuid: string): Promise<ChosenChannel> {
  const [here, owner] = await Promise.all([qemuUser(source.connection), qemuUser(destination.connection)]);
  if (here?.uid !== owner?.uid)
    return refuse(
      `QEMU runs as another user in ${destination.context} than in ${source.context}, and can't enter a private folder of the other one.`,
      'Set the same user in qemu.conf of both, or set migrationTransport: tls in both contexts.',
    );
  const folder = `${await destination.pool.futurePath()}/${folderName(uuid)}`;
  if (Buffer.byteLength(socketsIn(folder).memory) > MAX_SOCKET_PATH_BYTES)
    return refuse(
      `The path of the storage pool of ${destination.context} is too long for sockets in it.`,
      `Use a path of at most ${MAX_SOCKET_PATH_BYTES - Buffer.byteLength(`/${folderName(uuid)}/m`)} bytes, or set migrationTransport: tls in both contexts.`,
    );
  return { channel: { kind: 'sockets', folder, ...(owner && { owner }) }, refusals: [], warnings: [] };
}

/** Creates what a channel needs. */
export async function openChannel(
  channel: MigrationChannel,
  { pool }: MigrationHost,
  uuid: string,
): Promise<ChannelSettings> {
  if (channel.kind === 'sockets') {
    await pool.ensure();
    await pool.createPrivateFolder(folderName(uuid), channel.owner);
    const { memory, disks } = socketsIn(channel.folder);
    return {
      flags: 0,
      params: [
        { field: 'migrate_uri', value: `unix://${encodeURI(memory)}` },
        { field: 'disks_uri', value: `unix://${encodeURI(disks)}` },
      ],
    };
  }
  const { kind, address } = channel;
  return {
    flags: kind === 'tls' ? MigrationFlag.tls : 0,
    params: [
      { field: 'migrate_uri', value: `tcp://${bracketed(address)}` },
      // libvirt listens on all addresses otherwise, for the memory and for the disks.
      { field: 'listen_address', value: address },
    ],
  };
}

export interface ChannelSettings {
  readonly flags: number;
  readonly params: readonly MigrationParameter[];
}

/** Removes the folder of the sockets, if there is one. */
export async function closeChannel({ connection, pool }: MigrationHost, uuid: string): Promise<void> {
  if (isRemote(connection.uri) || !(await pool.state())?.isActive || !(await pool.has(folderName(uuid)))) return;
  const { memory, disks } = socketsIn(`${await pool.path()}/${folderName(uuid)}`);
  // A QEMU that was killed leaves its sockets. Without the right to remove them, the next migration of the guest
  // replaces them.
  for (const path of [memory, disks]) await rm(path, { force: true }).catch(() => undefined);
  await pool.remove(folderName(uuid)).catch(() => undefined);
}

/** Short, because the paths of sockets are. */
const folderName = (uuid: string): string => `migration-${uuid.replaceAll('-', '').slice(0, 12)}`;

const socketsIn = (folder: string) => ({ memory: `${folder}/m`, disks: `${folder}/d` }) as const;

const bracketed = (address: string): string => (address.includes(':') ? `[${address}]` : address);
