import type { SnapshotView } from '@headgate/api-contracts';
import type { ApiClient } from '../client/api-client.js';
import { findAddress } from '../instances/find-instance.js';
import { ctExtension, formatRef, vmPath, type InstanceAddress, type InstanceKind } from '../instances/instance.js';
import { runChanges, type Change, type ChangeOptions } from '../plans/run-changes.js';
import type { Session } from '../session.js';
import type { Presentation } from '../terminal/output.js';
import { withChangeOptions, type AddCommands } from './command-context.js';
import { kindOption } from './read-commands.js';

interface Flags extends ChangeOptions {
  readonly kind?: InstanceKind;
  readonly memory?: boolean;
}

const SNAPSHOTS: Presentation<SnapshotView> = {
  nameOf: ({ name }) => name,
  ifEmpty: 'There are no snapshots.',
  columns: [
    { title: 'NAME', of: ({ name }) => name },
    { title: 'PHASE', of: ({ phase }) => phase },
    { title: 'CREATED', of: ({ creationTime }) => creationTime },
    { title: 'READY', of: ({ ready }) => (ready ? 'yes' : 'no') },
    { title: 'MEMORY', of: ({ memory }) => (memory ? 'yes' : 'no'), isWide: true },
    { title: 'REASON', of: ({ reason }) => reason, isWide: true },
  ],
};

/** snapshot list, create, restore and delete. */
export const addSnapshotCommands: AddCommands = (program, act) => {
  const group = program.command('snapshot').summary('list, create, restore and delete snapshots').alias('snap');
  group.helpCommand(false).description('Snapshots of the disks of VMs and of the files of containers.');
  group
    .command('list')
    .alias('ls')
    .description('Lists the snapshots of an instance, the oldest first.')
    .argument('<instance>')
    .addOption(kindOption())
    .action(act(list));
  withChangeOptions(
    group
      .command('create')
      .description('Saves the disks of an instance. A running guest keeps running.')
      .argument('<instance>')
      .argument('[snapshot]', 'its name; by default, the name of the instance and the time')
      .addOption(kindOption())
      .option('--memory', 'also save the memory of the running guest'),
  ).action(
    act(async (session: Session, instance: string, snapshot: string | undefined, flags: Flags) => {
      const { api, address } = await find(session, instance, flags);
      await runChanges(session, [create(api, address, snapshot, flags)], flags);
    }),
  );
  for (const verb of ['restore', 'delete'] as const)
    withChangeOptions(
      group
        .command(verb)
        .description(verb === 'restore' ? 'Returns an instance to a snapshot.' : 'Deletes a snapshot.')
        .argument('<instance>')
        .argument('<snapshot>')
        .addOption(kindOption()),
    ).action(
      act(async (session: Session, instance: string, snapshot: string, flags: Flags) => {
        const { api, address } = await find(session, instance, flags);
        await runChanges(session, [(verb === 'restore' ? restore : remove)(api, address, snapshot)], flags);
      }),
    );
};

async function find(session: Session, instance: string, { kind }: Flags) {
  const api = await session.api();
  return { api, address: await findAddress(api, instance, kind) };
}

const snapshotsOf = (address: InstanceAddress) =>
  address.kind === 'vm' ? (`${vmPath(address)}/snapshots` as const) : (`${ctExtension(address)}/snapshots` as const);

async function list(session: Session, instance: string, flags: Flags): Promise<void> {
  const { api, address } = await find(session, instance, flags);
  const { context } = address;
  await session.output.list(await api.get(snapshotsOf(address), { query: { context } }), SNAPSHOTS);
}

function create(api: ApiClient, address: InstanceAddress, name: string | undefined, { memory }: Flags): Change {
  const path = snapshotsOf(address);
  const { context } = address;
  const body = { ...(name === undefined ? {} : { name }), ...(memory ? { memory } : {}) };
  return {
    target: formatRef(address),
    title: `Take a snapshot of ${address.name}`,
    plan: () => api.post(path, { query: { context, dryRun: true }, body }),
    run: async () => {
      const created = await api.post(path, { query: { context }, body });
      return { status: `created ${created.name}`, ...(created.task === undefined ? {} : { task: created.task }) };
    },
  };
}

function restore(api: ApiClient, address: InstanceAddress, snapshot: string): Change {
  const path = `${snapshotsOf(address)}/${encodeURIComponent(snapshot)}/restore` as const;
  const { context } = address;
  return {
    target: formatRef(address),
    title: `Return ${address.name} to ${snapshot}`,
    isDisruptive: true,
    plan: () => api.post(path, { query: { context, dryRun: true } }),
    run: () => api.post(path, { query: { context } }),
  };
}

function remove(api: ApiClient, address: InstanceAddress, snapshot: string): Change {
  const path = `${snapshotsOf(address)}/${encodeURIComponent(snapshot)}` as const;
  const { context } = address;
  return {
    target: formatRef(address),
    title: `Delete the snapshot ${snapshot} of ${address.name}`,
    isDisruptive: true,
    plan: () => api.delete(path, { query: { context, dryRun: true } }),
    run: () => api.delete(path, { query: { context } }),
  };
}
