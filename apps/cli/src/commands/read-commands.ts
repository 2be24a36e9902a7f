import { Option } from 'commander';
import { findInstance, findAddress } from '../instances/find-instance.js';
import { INSTANCES } from '../instances/instance-table.js';
import { ctExtension, isVm, vmPath, type InstanceKind } from '../instances/instance.js';
import { listInstances } from '../instances/list-instances.js';
import type { Session } from '../session.js';
import { toYaml } from '../terminal/output.js';
import { formatTable } from '../terminal/table.js';
import type { AddCommands } from './command-context.js';
import { parseCount } from './parse-option.js';

export const kindOption = () =>
  new Option('-k, --kind <kind>', 'only VMs, or only containers').choices(['vm', 'ct'] as const);

interface ListFlags {
  readonly kind?: InstanceKind;
  readonly folder?: string;
  readonly sort?: string;
  readonly limit?: number;
}

/** list and get. */
export const addReadCommands: AddCommands = (program, act) => {
  program
    .command('list')
    .alias('ls')
    .summary('list VMs and containers')
    .description('Lists the VMs and containers that match a query, such as: status:running tag:prod "mem>8Gi"')
    .argument('[query...]', 'words and terms, all of which must match')
    .addOption(kindOption())
    .option('--folder <path>', 'only those in the folder and the folders in it')
    .option('--sort <field>', 'name, status, cpu, mem and others; -mem has the largest first')
    .option('--limit <number>', 'at most so many', parseCount)
    .action(act(list));
  program
    .command('get')
    .summary('show a VM or container')
    .description("Shows a VM or container as the lists have it, or its backend's own object.")
    .argument('<instance>', 'its name, NAMESPACE/NAME, or its ref')
    .addOption(kindOption())
    .option('--manifest', "the backend's own object, as YAML unless -o json")
    .action(act(get));
};

async function list(session: Session, words: readonly string[], flags: ListFlags): Promise<void> {
  const q = words.join(' ');
  const { instances, isPartial } = await listInstances(await session.api(), { ...flags, ...(q === '' ? {} : { q }) });
  if (isPartial) session.output.note('Some contexts can not be reached: their last known entries are marked as stale.');
  await session.output.list(instances, INSTANCES);
}

async function get(session: Session, name: string, flags: { kind?: InstanceKind; manifest?: boolean }): Promise<void> {
  const api = await session.api();
  if (flags.manifest) {
    const address = await findAddress(api, name, flags.kind);
    const { context } = address;
    const manifest =
      address.kind === 'vm'
        ? await api.get(vmPath(address), { query: { context } })
        : await api.get(ctExtension(address), { query: { context } });
    const text = await toYaml(manifest);
    return session.output.value(manifest, () => text, name);
  }
  const instance = await findInstance(api, name, flags.kind);
  const rows = Object.entries(instance).map(([field, value]) => ({
    field,
    value: typeof value === 'object' ? JSON.stringify(value) : String(value),
  }));
  await session.output.value(
    isVm(instance) ? instance : { ...instance },
    () =>
      formatTable(rows, [
        { title: 'FIELD', of: ({ field }) => field },
        { title: 'VALUE', of: ({ value }) => value },
      ]),
    instance.ref,
  );
}
