import { ClientError } from '../client/client-error.js';
import { EXIT_CODES } from '../exit-codes.js';
import { ansibleInventory } from '../inventory/ansible-inventory.js';
import { listInstances } from '../instances/list-instances.js';
import type { InstanceKind } from '../instances/instance.js';
import type { Session } from '../session.js';
import { escapeInJson } from '../terminal/printable.js';
import type { AddCommands } from './command-context.js';
import { kindOption } from './read-commands.js';

interface Flags {
  readonly list?: boolean;
  readonly host?: string;
  readonly query?: string;
  readonly kind?: InstanceKind;
}

/** inventory. */
export const addInventoryCommand: AddCommands = (program, act) => {
  program
    .command('inventory')
    .summary('print an inventory for Ansible')
    .description(
      'Prints the instances as JSON of Ansible\'s dynamic inventories. An inventory script only has to call it: exec headgate inventory "$@"',
    )
    .option('--list', 'all hosts, their groups and their variables (default)')
    .option('--host <name>', 'the variables of one host')
    .option('--query <query>', 'only the instances that match')
    .addOption(kindOption())
    .action(act(inventory));
};

async function inventory(session: Session, { host, query, kind }: Flags): Promise<void> {
  const options = { ...(query === undefined ? {} : { q: query }), ...(kind === undefined ? {} : { kind }) };
  const { instances, isPartial } = await listInstances(await session.api(), options);
  if (isPartial)
    session.output.note('Some contexts can not be reached: their last known entries are in the inventory.');
  const all = ansibleInventory(instances);
  session.output.write(`${escapeInJson(JSON.stringify(host === undefined ? all : variables(host, all), null, 2))}\n`);
}

function variables(host: string, { _meta: { hostvars } }: ReturnType<typeof ansibleInventory>) {
  const found = Object.hasOwn(hostvars, host) ? hostvars[host] : undefined;
  if (!found) throw new ClientError('HOST_NOT_FOUND', `There is no host "${host}".`, EXIT_CODES.notFound);
  return found;
}
