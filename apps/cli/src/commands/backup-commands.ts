import type { BackupTargetView } from '@headgate/api-contracts';
import {
  chooseTarget,
  contextOf,
  findBackup,
  findTargets,
  listBackups,
  pathOfBackup,
  type FoundBackup,
} from '../backups/find-backup.js';
import type { ApiClient } from '../client/api-client.js';
import { findInstance, findAddress } from '../instances/find-instance.js';
import { formatRef, vmExtension, type InstanceAddress } from '../instances/instance.js';
import { runChanges, type Change, type ChangeOptions } from '../plans/run-changes.js';
import type { Session } from '../session.js';
import type { Presentation } from '../terminal/output.js';
import { readableBytes } from '../terminal/readable-bytes.js';
import { withChangeOptions, type AddCommands } from './command-context.js';
import { parseCount, parsePair } from './parse-option.js';

interface TargetFlag {
  readonly target?: string;
}

interface RestoreFlags extends ChangeOptions, TargetFlag {
  readonly on?: string;
  readonly namespace?: string;
  readonly mapNetwork?: Record<string, string>;
  readonly mapStorage?: Record<string, string>;
  readonly keepMacs?: boolean;
  readonly instant?: boolean;
}

interface ProveFlags extends ChangeOptions, TargetFlag {
  readonly on?: string;
  readonly within?: number;
  readonly quick?: boolean;
}

/** Enough to find it again among some thousand backups. */
const SHORT_ID = 8;

const TARGETS: Presentation<BackupTargetView> = {
  nameOf: ({ name }) => name,
  ifEmpty: 'There are no backup targets. Add one on the page, or with POST /api/ext/backups/targets.',
  columns: [
    { title: 'NAME', of: ({ name }) => name },
    { title: 'KIND', of: ({ kind }) => kind },
    { title: 'ADDED', of: ({ createdAt }) => createdAt },
    { title: 'ID', of: ({ id }) => id, isWide: true },
    { title: 'PATH', of: ({ path }) => path, isWide: true },
  ],
};

type Row = FoundBackup['point'] & { readonly target: string };

const BACKUPS: Presentation<Row> = {
  nameOf: ({ id }) => id,
  ifEmpty: 'There are no backups.',
  columns: [
    { title: 'ID', of: ({ id }) => id.slice(0, SHORT_ID) },
    { title: 'VM', of: ({ ref }) => ref },
    { title: 'TIME', of: ({ time }) => time },
    { title: 'SIZE', of: ({ sizeBytes }) => readableBytes(sizeBytes) },
    { title: 'CONSISTENCY', of: ({ consistency }) => consistency },
    { title: 'BOOTED', of: ({ proof }) => (proof === undefined ? 'not tried' : proof.state) },
    { title: 'TARGET', of: ({ target }) => target },
    { title: 'REASON', of: ({ proof }) => proof?.reason, isWide: true },
  ],
};

/** backup targets, list, create, restore, prove and delete. */
export const addBackupCommands: AddCommands = (program, act) => {
  const group = program.command('backup').summary('list, create, restore, prove and delete backups of VMs');
  group
    .helpCommand(false)
    .description('Backups of VMs. A backup is named by the beginning of its ID, at least 6 characters.');
  group.command('targets').description('Lists the repositories of backups.').action(act(targets));
  group
    .command('list')
    .alias('ls')
    .description('Lists backups, the newest first.')
    .argument('[vm]', 'only those of this VM, also if it was deleted: then its ref')
    .option('--target <name>', 'only those in this target')
    .action(act(list));
  withChangeOptions(
    group
      .command('create')
      .description('Backs up all disks of VMs as they are at one moment. A running guest keeps running.')
      .argument('<vm...>')
      .option('--target <name>', 'where to; by default, the only target'),
  ).action(act(create));
  withChangeOptions(
    group
      .command('restore')
      .description('Creates a new VM from a backup. The original stays as it is.')
      .argument('<backup>')
      .argument('<name>', 'the name of the new VM')
      .option('--target <name>', 'the target that has the backup')
      .option('--on <context>', 'the context of the new VM; by default, that of the original')
      .option('-n, --namespace <name>', 'its namespace; by default, the one of the context')
      .option('--map-network <from=to>', 'use another network; may be repeated', parsePair)
      .option('--map-storage <from=to>', 'use another storage; may be repeated', parsePair)
      .option('--keep-macs', 'keep the addresses of the network cards')
      .option('--instant', 'start the VM now, while its disks are copied'),
  ).action(act(restore));
  withChangeOptions(
    group
      .command('prove')
      .description('Boots a backup without a network, and stores a signed certificate. See also: headgate proof verify')
      .argument('<backup>')
      .option('--target <name>', 'the target that has the backup')
      .option('--on <context>', 'the context that boots it; by default, that of the original')
      .option('--within <seconds>', 'how long the guest may take', parseCount)
      .option('--quick', 'read only the parts of the disks that the guest reads'),
  ).action(act(prove));
  withChangeOptions(
    group
      .command('delete')
      .description('Deletes a backup. Its space is free after the next clean-up of the target.')
      .argument('<backup>')
      .option('--target <name>', 'the target that has the backup'),
  ).action(act(remove));
};

async function targets(session: Session): Promise<void> {
  const api = await session.api();
  await session.output.list(await api.get('/api/ext/backups/targets'), TARGETS);
}

async function list(session: Session, vm: string | undefined, { target }: TargetFlag): Promise<void> {
  const api = await session.api();
  const ref = vm === undefined ? undefined : await refOf(api, vm);
  const found = await listBackups(api, await findTargets(api, target), ref);
  await session.output.list(
    found.map((backup) => ({ ...backup.point, target: backup.target.name })),
    BACKUPS,
  );
}

/** A ref may be that of a VM that no longer exists. */
const refOf = async (api: ApiClient, text: string): Promise<string> =>
  /^vm(\/[^/]+){3}$/.test(text) ? text : (await findInstance(api, text, 'vm')).ref;

async function create(session: Session, names: readonly string[], flags: ChangeOptions & TargetFlag): Promise<void> {
  const api = await session.api();
  const target = await chooseTarget(api, flags.target);
  const changes: Change[] = [];
  for (const name of names) changes.push(backUp(api, await findAddress(api, name, 'vm'), target));
  await runChanges(session, changes, flags);
}

function backUp(api: ApiClient, address: InstanceAddress, target: BackupTargetView): Change {
  const path = `${vmExtension(address)}/backup` as const;
  const { context } = address;
  const body = { target: target.id };
  return {
    target: formatRef(address),
    title: `Back up ${address.name} to ${target.name}`,
    plan: () => api.post(path, { query: { context, dryRun: true }, body }),
    run: async () => ({ status: 'backing up', ...(await api.post(path, { query: { context }, body })) }),
  };
}

async function restore(session: Session, id: string, name: string, flags: RestoreFlags): Promise<void> {
  const api = await session.api();
  const backup = await findBackup(api, id, flags.target);
  const path = `${pathOfBackup(backup)}/restore` as const;
  const { namespace, mapNetwork: networks, mapStorage: storageClasses, keepMacs, instant } = flags;
  const body = {
    context: flags.on ?? contextOf(backup),
    name,
    ...(namespace === undefined ? {} : { namespace }),
    ...(networks || storageClasses
      ? { mapping: { ...(networks && { networks }), ...(storageClasses && { storageClasses }) } }
      : {}),
    ...(keepMacs ? { keepMacs } : {}),
    ...(instant ? { instant } : {}),
  };
  const change: Change = {
    target: name,
    title: `Restore ${backup.point.ref} of ${backup.point.time} as ${name}`,
    plan: () => api.post(path, { query: { dryRun: true }, body }),
    run: async () => ({ status: 'restoring', ...(await api.post(path, { body })) }),
  };
  await runChanges(session, [change], flags);
}

async function prove(session: Session, id: string, flags: ProveFlags): Promise<void> {
  const api = await session.api();
  const backup = await findBackup(api, id, flags.target);
  const path = `${pathOfBackup(backup)}/prove` as const;
  const body = {
    context: flags.on ?? contextOf(backup),
    ...(flags.within === undefined ? {} : { timeLimitSeconds: flags.within }),
    ...(flags.quick ? { readAll: false } : {}),
  };
  const change: Change = {
    target: backup.point.id,
    title: `Boot ${backup.point.ref} of ${backup.point.time}`,
    plan: () => api.post(path, { query: { dryRun: true }, body }),
    run: async () => ({ status: 'booting', ...(await api.post(path, { body })) }),
  };
  await runChanges(session, [change], flags);
}

async function remove(session: Session, id: string, flags: ChangeOptions & TargetFlag): Promise<void> {
  const api = await session.api();
  const backup = await findBackup(api, id, flags.target);
  const path = pathOfBackup(backup);
  const change: Change = {
    target: backup.point.id,
    title: `Delete the backup of ${backup.point.ref} of ${backup.point.time} in ${backup.target.name}`,
    isDisruptive: true,
    plan: () => api.delete(path, { query: { dryRun: true } }),
    run: () => api.delete(path),
  };
  await runChanges(session, [change], flags);
}
