import {
  SettingError,
  type AuditEntry,
  type Backend,
  type FolderAssignment,
  type OpenedBackend,
  type PastUsage,
} from '@headgate/domain-contracts';
import { ConfigError } from '@headgate/nest-kit';
import type { Logger } from 'pino';
import type { CommandLine } from '../config/command-line.js';
import type { ContextSection } from '../config/context-section.js';
import type { Settings } from '../config/load-config.js';
import { BACKEND_KINDS, type BackendKinds } from '../engines/backend-kinds.js';
import { ContextOpener } from './context-opener.js';
import { ReplicaFence } from './replica-fence.js';

/** The opened backends. */
export interface ChosenContexts {
  /** The first one takes new instances that name no context. */
  readonly backends: readonly Backend[];
  /** Names of the contexts whose guests are simulated. */
  readonly simulated: ReadonlySet<string>;
  /** The folders of the simulated instances. */
  readonly simulatedFolders?: readonly FolderAssignment[];
  /** The invented past of the simulated instances, if there are no others. */
  readonly simulatedPast?: readonly AuditEntry[];
  /** The invented usage of simulated instances, by the name of their context. */
  readonly simulatedUsage?: ReadonlyMap<string, PastUsage>;
  /** Whether the image that is built on this machine can be used. */
  readonly hasTinyGuest: boolean;
  /** The contexts of the configuration, of the command line, or those that were found. */
  readonly configured?: readonly ContextSection[];
  /** Opens further contexts. */
  readonly opener?: ContextOpener;
  /** Keeps the backends from changing their engines while this replica may not. */
  readonly fence?: ReplicaFence;
  /** Sentences for the user about the choice. */
  readonly notes: readonly string[];
  /** Closes the engines that this process runs. Call after the backends were closed. */
  close(): Promise<void>;
}

export interface ChooseDeps {
  readonly options: CommandLine;
  readonly settings: Settings;
  readonly log: Logger;
  readonly kinds?: BackendKinds;
}

/**
 * Opens the contexts of the configuration and of the command line. Without any, it opens the first engine that a kind
 * discovers, or else a simulated cluster.
 * @throws ConfigError when a context has an unknown kind, or a setting that can't be used
 */
export async function chooseContexts({
  options,
  settings,
  log,
  kinds = BACKEND_KINDS,
}: ChooseDeps): Promise<ChosenContexts> {
  expectKnownKinds(settings.contexts, kinds, options.config);
  const { sections, notes } = await chooseSections(options, settings, kinds);
  const fence = new ReplicaFence();
  const opener = new ContextOpener({ options, settings, log, kinds, fence });
  const opened: OpenedBackend[] = [];
  for (const section of sections) {
    const one = await openConfigured(opener, section);
    opener.keep(one.backend);
    opened.push(one);
  }
  const simulated = opened.filter(({ isSimulated }) => isSimulated);
  return {
    backends: opened.map(({ backend }) => backend),
    configured: sections,
    opener,
    simulated: new Set(simulated.map(({ backend }) => backend.context)),
    simulatedFolders: simulated.flatMap(({ folders = [] }) => folders),
    simulatedPast: simulated.length < opened.length ? [] : simulated.flatMap(({ past = [] }) => past),
    simulatedUsage: new Map(
      simulated.flatMap(({ backend, pastUsage }) => (pastUsage ? [[backend.context, pastUsage] as const] : [])),
    ),
    fence,
    hasTinyGuest:
      options.tinyGuest !== undefined &&
      opened.some(({ backend }) => backend.traits.imageKinds.includes('builtLocally')),
    notes: simulated.length > 0 ? [...notes.found, SIMULATED, ...notes.hints] : [...notes.found, ...notes.hints],
    close: async () => void (await Promise.all(opened.map((one) => one.close?.()))),
  };
}

/** @throws ConfigError */
async function openConfigured(opener: ContextOpener, section: ContextSection): Promise<OpenedBackend> {
  try {
    return await opener.openConfigured(section);
  } catch (error) {
    throw error instanceof SettingError ? new ConfigError(error.source, [error.problem], { cause: error }) : error;
  }
}

const SIMULATED = 'This is a sandbox: its cluster and its guests are simulated.';

interface Notes {
  /** The engines that were found without a configuration. */
  readonly found: readonly string[];
  readonly hints: readonly string[];
}

const NO_NOTES: Notes = { found: [], hints: [] };

async function chooseSections(
  { local, containers, sandbox }: CommandLine,
  { contexts }: Settings,
  kinds: BackendKinds,
): Promise<{ sections: readonly ContextSection[]; notes: Notes }> {
  const configured: ContextSection[] = [
    ...contexts,
    ...(local ? [{ name: 'local', kind: 'libvirt' }] : []),
    ...(local && containers !== undefined
      ? [{ name: 'local-containers', kind: 'incus', settings: { socket: containers } }]
      : []),
    ...(sandbox === undefined ? [] : [{ name: 'sandbox', kind: 'sandbox', settings: { instances: sandbox } }]),
  ];
  if (configured.length > 0) return { sections: configured, notes: NO_NOTES };
  for (const [kind, { discover }] of Object.entries(kinds)) {
    const found = await discover?.();
    if (!found) continue;
    const { context: name, settings, description } = found;
    return { sections: [{ name, kind, settings }], notes: { ...NO_NOTES, found: [`Found ${description}.`] } };
  }
  return {
    sections: [{ name: 'sandbox', kind: 'sandbox' }],
    notes: {
      found: ['Found neither a cluster nor libvirt.'],
      hints: ['For real virtual machines on this machine type: npm start -- --local'],
    },
  };
}

function expectKnownKinds(
  contexts: readonly ContextSection[],
  kinds: BackendKinds,
  source = 'the configuration',
): void {
  const rule = `must be ${listOf(Object.keys(kinds))}`;
  const problems = contexts.flatMap(({ kind }, index) =>
    Object.hasOwn(kinds, kind) ? [] : [`contexts[${index}].kind ${rule}`],
  );
  if (problems.length > 0) throw new ConfigError(source, problems);
}

/** `a, b or c` */
const listOf = (words: readonly string[]): string =>
  words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;
