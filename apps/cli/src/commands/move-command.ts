import type { MoveAcceptedView, MovePlanView } from '@headgate/api-contracts';
import type { BodyOf } from '@headgate/api-routes';
import { Option } from 'commander';
import type { ApiClient } from '../client/api-client.js';
import { ClientError } from '../client/client-error.js';
import { EXIT_CODES } from '../exit-codes.js';
import { findInstance } from '../instances/find-instance.js';
import { kindOf, type InstanceKind } from '../instances/instance.js';
import { runChanges, type Change, type ChangeOptions } from '../plans/run-changes.js';
import type { Session } from '../session.js';
import { collect, withChangeOptions, type AddCommands } from './command-context.js';
import { parsePair } from './parse-option.js';
import { kindOption } from './read-commands.js';

interface Flags extends ChangeOptions {
  readonly kind?: InstanceKind;
  readonly to: string;
  readonly namespace?: string;
  readonly name?: string;
  readonly mode?: 'cold' | 'warm' | 'live';
  readonly deleteSource?: boolean;
  readonly acceptLoss?: string[];
  readonly mapNetwork?: Record<string, string>;
  readonly mapStorage?: Record<string, string>;
}

/** move. */
export const addMoveCommand: AddCommands = (program, act) => {
  withChangeOptions(
    program
      .command('move')
      .summary('move VMs or containers to another context or namespace')
      .description(
        'Copies the disks of VMs or containers to another context or namespace of the service and compares them. The source is kept, stopped, unless --delete-source is given.',
      )
      .argument('<instance...>', 'names, NAMESPACE/NAME, or refs')
      .requiredOption('--to <context>', 'the destination, a context of the service')
      .addOption(kindOption())
      .option('-n, --namespace <name>', 'the namespace at the destination')
      .option('--name <name>', 'its name at the destination')
      .addOption(new Option('--mode <mode>', 'how long the guest is stopped').choices(['cold', 'warm', 'live']))
      .option('--delete-source', 'delete the source once the copy was compared')
      .option('--accept-loss <what>', 'accept a critical loss, such as tpm; may be repeated', collect)
      .option('--map-network <from=to>', 'use another network at the destination; may be repeated', parsePair)
      .option('--map-storage <from=to>', 'use another storage at the destination; may be repeated', parsePair),
  ).action(act(move));
};

async function move(session: Session, names: readonly string[], flags: Flags): Promise<void> {
  if (flags.name !== undefined && names.length > 1) throw ClientError.usage('--name is for one instance only.');
  const api = await session.api();
  const changes: Change[] = [];
  for (const name of names) {
    const instance = await findInstance(api, name, flags.kind);
    changes.push(moveOf(api, instance, await destinationOf(api, kindOf(instance), flags.to), flags));
  }
  await runChanges(session, changes, flags);
}

/** @returns the kind of the backend of the destination, which the request needs */
async function destinationOf(api: ApiClient, kind: InstanceKind, context: string): Promise<string> {
  const { destinations } = await api.get('/api/move/destinations', { query: { kind } });
  const found = destinations.find((destination) => destination.context === context);
  if (found) return found.backend;
  const known = destinations.map((destination) => destination.context).join(', ');
  throw new ClientError(
    'CONTEXT_NOT_FOUND',
    `--to: the service has no context "${context}". There are: ${known}.`,
    EXIT_CODES.notFound,
  );
}

function moveOf(
  api: ApiClient,
  { ref, name, context }: { readonly ref: string; readonly name: string; readonly context: string },
  toBackend: string,
  flags: Flags,
): Change {
  const { mapNetwork, mapStorage } = flags;
  const body = {
    ref,
    toBackend,
    toContext: flags.to,
    ...(flags.namespace === undefined ? {} : { toNamespace: flags.namespace }),
    ...(flags.name === undefined ? {} : { name: flags.name }),
    ...(flags.mode === undefined ? {} : { mode: flags.mode }),
    ...(flags.deleteSource ? { deleteSource: true } : {}),
    ...(flags.acceptLoss ? { acceptLoss: flags.acceptLoss } : {}),
    ...(mapNetwork || mapStorage
      ? {
          mapping: {
            ...(mapNetwork ? { networks: mapNetwork } : {}),
            ...(mapStorage ? { storageClasses: mapStorage } : {}),
          },
        }
      : {}),
  } as BodyOf<'/api/move', 'post'>;
  return {
    target: ref,
    title: `Move ${name} from ${context} to ${flags.to}`,
    isDisruptive: true,
    // The plan of a single instance; only a queue has others.
    plan: async () => (await api.post('/api/move/preflight', { body })) as MovePlanView,
    run: async () => {
      const { task } = (await api.post('/api/move', { body })) as MoveAcceptedView;
      return { status: 'moving', task };
    },
  };
}
