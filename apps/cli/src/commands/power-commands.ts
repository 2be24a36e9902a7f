import type { ApiClient } from '../client/api-client.js';
import { ClientError } from '../client/client-error.js';
import { EXIT_CODES } from '../exit-codes.js';
import { findAddress } from '../instances/find-instance.js';
import { ctPath, formatRef, vmPath, type InstanceAddress, type InstanceKind } from '../instances/instance.js';
import { runChanges, type Change, type ChangeOptions } from '../plans/run-changes.js';
import type { Session } from '../session.js';
import { withChangeOptions, type AddCommands } from './command-context.js';
import { kindOption } from './read-commands.js';

type Action = 'start' | 'stop' | 'restart' | 'pause' | 'unpause';

interface Flags extends ChangeOptions {
  readonly kind?: InstanceKind;
  readonly force?: boolean;
  readonly node?: string;
}

const SUMMARIES: Readonly<Record<Action, readonly [summary: string, description: string]>> = {
  start: ['start VMs or containers', 'Starts VMs or containers.'],
  stop: ['shut guests down, or stop containers', 'Asks the guests of VMs to shut down, or stops containers.'],
  restart: ['shut VMs down and start them again', 'Shuts VMs down and starts them again.'],
  pause: ['freeze VMs', 'Freezes VMs: their guests do not run until they are unpaused.'],
  unpause: ['let frozen VMs continue', 'Lets frozen VMs continue.'],
};

const ALIASES: Partial<Record<Action, string>> = { stop: 'shutdown', unpause: 'resume' };

/** start, stop, restart, pause, unpause, delete and migrate. */
export const addPowerCommands: AddCommands = (program, act) => {
  for (const action of Object.keys(SUMMARIES) as Action[]) {
    const [summary, description] = SUMMARIES[action];
    const command = program.command(action).summary(summary).description(description);
    const alias = ALIASES[action];
    if (alias) command.alias(alias);
    command.argument('<instance...>', 'names, NAMESPACE/NAME, or refs').addOption(kindOption());
    if (action === 'stop') command.option('--force', 'power VMs off instead of asking their guests');
    withChangeOptions(command).action(
      act((session: Session, names: string[], flags: Flags) =>
        changeAll(session, names, flags, (api, address) => power(api, address, action, flags)),
      ),
    );
  }
  withChangeOptions(
    program
      .command('delete')
      .alias('rm')
      .summary('delete VMs or containers with their disks')
      .description('Deletes VMs or containers with everything that belongs to them, such as their disks.')
      .argument('<instance...>', 'names, NAMESPACE/NAME, or refs')
      .addOption(kindOption()),
  ).action(act((session: Session, names: string[], flags: Flags) => changeAll(session, names, flags, remove)));
  withChangeOptions(
    program
      .command('migrate')
      .summary('move running VMs to another node')
      .description('Moves running VMs to another node of their cluster, or to another libvirt host, while they run.')
      .argument('<instance...>', 'names, NAMESPACE/NAME, or refs')
      .option('--node <name>', 'the node; by default, the cluster chooses one'),
  ).action(
    act((session: Session, names: string[], flags: Flags) =>
      changeAll(session, names, { ...flags, kind: 'vm' }, (api, address) => migrate(api, address, flags.node)),
    ),
  );
};

/** The path of the route whose last parameter is the action. */
type ActionPath<C extends 'vms' | 'cts'> = `/api/${C}/${string}/${string}/${string}`;

/** Finds all instances before the first change. */
async function changeAll(
  session: Session,
  names: readonly string[],
  flags: Flags,
  changeOf: (api: ApiClient, address: InstanceAddress) => Change,
): Promise<void> {
  const api = await session.api();
  const addresses = new Map<string, InstanceAddress>();
  for (const name of names) {
    const address = await findAddress(api, name, flags.kind);
    addresses.set(formatRef(address), address);
  }
  await runChanges(
    session,
    [...addresses.values()].map((address) => changeOf(api, address)),
    flags,
  );
}

function power(api: ApiClient, address: InstanceAddress, action: Action, { force }: Flags): Change {
  const { context, name, kind } = address;
  const change = {
    target: formatRef(address),
    title: `${force ? 'Power off' : `${action.charAt(0).toUpperCase()}${action.slice(1)}`} ${name}`,
    isDisruptive: action === 'stop' || action === 'restart' || action === 'pause',
  };
  if (kind === 'ct') {
    if (action !== 'start' && action !== 'stop')
      throw new ClientError(
        'NOT_SUPPORTED',
        `${name} is a container, which can only be started and stopped.`,
        EXIT_CODES.refused,
      );
    const path: ActionPath<'cts'> = `${ctPath(address)}/${action}`;
    return {
      ...change,
      plan: () => api.post(path, { query: { context, dryRun: true } }),
      run: () => api.post(path, { query: { context } }),
    };
  }
  const path: ActionPath<'vms'> = `${vmPath(address)}/${action}`;
  const query = { context, ...(force ? { force } : {}) };
  return {
    ...change,
    plan: () => api.post(path, { query: { ...query, dryRun: true } }),
    run: () => api.post(path, { query }),
  };
}

function remove(api: ApiClient, address: InstanceAddress): Change {
  const path = address.kind === 'vm' ? vmPath(address) : ctPath(address);
  const { context } = address;
  return {
    target: formatRef(address),
    title: `Delete ${address.name}`,
    isDisruptive: true,
    plan: () => api.delete(path, { query: { context, dryRun: true } }),
    run: () => api.delete(path, { query: { context } }),
  };
}

function migrate(api: ApiClient, address: InstanceAddress, node: string | undefined): Change {
  const path = `${vmPath(address)}/migrate` as const;
  const { context } = address;
  const body = node === undefined ? {} : { targetNode: node };
  return {
    target: formatRef(address),
    title: `Migrate ${address.name}`,
    plan: () => api.post(path, { query: { context, dryRun: true }, body }),
    run: async () => ({ status: 'migrating', ...(await api.post(path, { query: { context }, body })) }),
  };
}
