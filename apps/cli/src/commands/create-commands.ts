import { readFileSync } from 'node:fs';
import type { BodyOf } from '@headgate/api-routes';
import { Option } from 'commander';
import { ClientError } from '../client/client-error.js';
import { runChanges, type ChangeOptions, type ChangeResult } from '../plans/run-changes.js';
import type { Session } from '../session.js';
import { collect, withChangeOptions, type AddCommands } from './command-context.js';
import { parseCount } from './parse-option.js';

interface SharedFlags extends ChangeOptions {
  readonly on?: string;
  readonly namespace?: string;
  readonly cpu?: number;
  readonly mem?: string;
  readonly disk?: string;
  readonly image?: string;
  readonly storageClass?: string;
}

interface VmFlags extends SharedFlags {
  readonly containerDisk?: string;
  readonly import?: string;
  readonly iso?: string;
  readonly pvc?: string;
  readonly bootc?: string;
  readonly network?: string;
  readonly firmware?: 'bios' | 'uefi' | 'uefi-secure';
  readonly tpm?: boolean;
  readonly autostart?: boolean;
  readonly os?: string;
  readonly instancetype?: string;
  readonly preference?: string;
  readonly node?: string;
  readonly folder?: string;
  readonly tag?: string[];
  readonly cloudInit?: string;
  readonly start?: boolean;
}

/** create vm and create ct. */
export const addCreateCommands: AddCommands = (program, act) => {
  const group = program.command('create').summary('create a VM or container');
  group.helpCommand(false).description('Creates a VM or a container. --dry-run shows what would be created.');
  withChangeOptions(
    group
      .command('vm')
      .description('Creates a VM from exactly one source, such as --image debian-13.')
      .argument('<name>')
      .option('--image <name>', 'source: an image of the catalog')
      .option('--container-disk <image>', 'source: a container disk in a registry')
      .option('--import <url>', 'source: a qcow2 or raw disk')
      .option('--iso <url>', 'source: an installation medium')
      .option('--pvc <name>', 'source: an existing volume')
      .option('--bootc <image>', 'source: a bootc image in a registry')
      .option('--on <context>', "the service's context to create it in; by default its first one")
      .option('-n, --namespace <name>', 'its namespace')
      .option('--cpu <number>', 'its CPUs', parseCount)
      .option('--mem <size>', 'its memory, such as 4Gi')
      .option('--disk <size>', 'its boot disk, such as 20Gi')
      .option('--storage-class <name>', 'the storage class or pool of its disks')
      .option('--network <name>', 'the network of its card')
      .addOption(new Option('--firmware <kind>', 'its firmware').choices(['bios', 'uefi', 'uefi-secure']))
      .option('--tpm', 'with an emulated TPM 2.0')
      .option('--autostart', 'started with its host')
      .option('--os <id>', "the guest's operating system in libosinfo, such as debian12")
      .option('--instancetype <name>', 'its size in a cluster')
      .option('--preference <name>', 'its preference in a cluster')
      .option('--node <name>', 'the node to run on')
      .option('--folder <path>', 'an existing folder to put it in')
      .option('--tag <tag>', 'a tag; may be repeated', collect)
      .option('--cloud-init <file>', 'a file with cloud-init user data')
      .option('--start', 'start it when its disk is ready'),
  ).action(act(createVm));
  withChangeOptions(
    group
      .command('ct')
      .description('Creates a container with a data volume.')
      .argument('<name>')
      .requiredOption('--image <image>', 'its image')
      .option('--on <context>', "the service's context to create it in; by default its first one")
      .option('-n, --namespace <name>', 'its namespace')
      .option('--cpu <number>', 'its CPUs', parseCount)
      .option('--mem <size>', 'its memory, such as 512Mi')
      .option('--disk <size>', 'its data volume, such as 1Gi')
      .option('--storage-class <name>', 'the storage class or pool of its volume')
      .option('--privileged', 'with a root file system that it may change'),
  ).action(act(createContainer));
};

async function createVm(session: Session, name: string, flags: VmFlags): Promise<void> {
  const { dryRun: _dryRun, yes: _yes, wait: _wait, on, tag, cloudInit, ...fields } = flags;
  const body: BodyOf<'/api/vms', 'post'> = {
    name,
    ...fields,
    ...(on === undefined ? {} : { context: on }),
    ...(tag ? { tags: tag } : {}),
    ...(cloudInit === undefined ? {} : { cloudInit: readText(cloudInit) }),
  };
  const api = await session.api();
  const change = {
    target: name,
    title: `Create the VM ${name}`,
    plan: () => api.post('/api/vms', { query: { dryRun: true }, body }),
    run: async () => createdResult(await api.post('/api/vms', { body })),
  };
  await runChanges(session, [change], flags);
}

async function createContainer(
  session: Session,
  name: string,
  flags: SharedFlags & { readonly image: string; readonly privileged?: boolean },
): Promise<void> {
  const { dryRun: _dryRun, yes: _yes, wait: _wait, on, ...fields } = flags;
  const body: BodyOf<'/api/cts', 'post'> = {
    name,
    ...fields,
    image: flags.image,
    ...(on === undefined ? {} : { context: on }),
  };
  const api = await session.api();
  const change = {
    target: name,
    title: `Create the container ${name}`,
    plan: () => api.post('/api/cts', { query: { dryRun: true }, body }),
    run: async () => createdResult(await api.post('/api/cts', { body })),
  };
  await runChanges(session, [change], flags);
}

interface Created {
  readonly ref?: string;
  readonly task?: string;
  readonly warnings?: readonly string[];
}

const createdResult = ({ ref, task, warnings }: Created): ChangeResult => ({
  status: ref === undefined ? 'accepted' : `created ${ref}`,
  ...(task === undefined ? {} : { task }),
  ...(warnings === undefined ? {} : { warnings }),
});

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw ClientError.usage(`${path} can not be read (${(error as NodeJS.ErrnoException).code}).`);
  }
}
