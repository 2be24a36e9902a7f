import { access, constants } from 'node:fs/promises';
import { join } from 'node:path';
import { Clock, SystemClock, type Backend } from '@headgate/domain-contracts';
import { LibvirtBackend, type Accelerator } from '@headgate/libvirt-adapter';
import type { Logger } from 'pino';
import type { CommandLine } from '../config/command-line.js';
import type { Settings } from '../config/load-config.js';
import type { ContextSection } from '../config/service-config.js';
import { findCluster } from './find-cluster.js';
import { openCluster, openSandbox, type SandboxBackend } from './open-cluster.js';

/** Where libvirt listens on this machine: the one daemon, or the modular one for QEMU. */
const LIBVIRT_SOCKETS = ['/run/libvirt/libvirt-sock', '/run/libvirt/virtqemud-sock'];
const LOCAL_URI = 'qemu:///system';
/** How many instances a simulated cluster begins with when nobody says. */
const DEMO_INSTANCES = 40;

/** The backends that were decided on. */
export interface ChosenContexts {
  readonly backends: readonly Backend[];
  /** Names of contexts whose guests are simulated. */
  readonly simulated: ReadonlySet<string>;
  readonly hasTinyGuest: boolean;
  /** What a person should know about the choice, a sentence each. */
  readonly notes: readonly string[];
  /** Ends what stands behind the backends: a simulated cluster. Call after they were closed. */
  close(): Promise<void>;
}

type Choice = Pick<ContextSection, 'name' | 'kind' | 'uri' | 'kubeconfig' | 'kubeContext' | 'instances'>;

/**
 * Decides which backends are served: those of the configuration; else what the command line names; else what is here: a
 * cluster that answers, this machine's libvirt, or a simulated cluster.
 */
export async function chooseContexts(options: CommandLine, settings: Settings, log: Logger): Promise<ChosenContexts> {
  const { choices, notes } = await choose(options, settings);
  const clock = new SystemClock();
  const backends: Backend[] = [];
  const sandboxes: SandboxBackend[] = [];
  for (const choice of choices) {
    if (choice.kind !== 'sandbox') {
      backends.push(await open(choice, { options, settings, log, clock }));
      continue;
    }
    const sandbox = await openSandbox(
      choice.name,
      choice.instances ?? DEMO_INSTANCES,
      clock,
      log.child({ context: choice.name }),
    );
    sandboxes.push(sandbox);
    backends.push(sandbox.backend);
  }
  return {
    backends,
    simulated: new Set(choices.filter(({ kind }) => kind === 'sandbox').map(({ name }) => name)),
    hasTinyGuest: options.tinyGuest !== undefined && choices.some(({ kind }) => kind === 'libvirt'),
    notes,
    close: async () => void (await Promise.all(sandboxes.map((sandbox) => sandbox.close()))),
  };
}

async function choose(options: CommandLine, settings: Settings): Promise<{ choices: Choice[]; notes: string[] }> {
  const named: Choice[] = [
    ...settings.contexts,
    ...(options.local ? [{ name: 'local', kind: 'libvirt', uri: LOCAL_URI } as const] : []),
    ...(options.sandbox === undefined
      ? []
      : [{ name: 'sandbox', kind: 'sandbox', instances: options.sandbox } as const]),
  ];
  if (named.length > 0)
    return { choices: named, notes: named.some(({ kind }) => kind === 'sandbox') ? [SIMULATED] : [] };
  const cluster = await findCluster();
  if (cluster)
    return { choices: [cluster], notes: [`Found a cluster: the context ${cluster.name} of your kubeconfig.`] };
  if (await libvirtIsHere()) {
    return { choices: [{ name: 'local', kind: 'libvirt', uri: LOCAL_URI }], notes: ["Found this machine's libvirt."] };
  }
  return {
    choices: [{ name: 'sandbox', kind: 'sandbox', instances: DEMO_INSTANCES }],
    notes: [
      'Found neither a cluster nor libvirt.',
      SIMULATED,
      'For real virtual machines on this machine type: npm start -- --local',
    ],
  };
}

const SIMULATED = 'This is a sandbox: its cluster and its guests are simulated, nothing real runs.';

interface OpenWith {
  readonly options: CommandLine;
  readonly settings: Settings;
  readonly log: Logger;
  readonly clock: Clock;
}

async function open(choice: Choice, { options, settings, log, clock }: OpenWith): Promise<Backend> {
  const adapterLog = log.child({ context: choice.name });
  if (choice.kind === 'kubevirt') return openCluster(choice, clock, adapterLog);
  const { tinyGuest } = options;
  return LibvirtBackend.open({
    context: choice.name,
    uri: choice.uri ?? LOCAL_URI,
    dataDir: join(settings.dataDir, 'fetch', encodeURIComponent(choice.name)),
    clock,
    log: adapterLog,
    tinyGuest: tinyGuest === undefined ? undefined : async () => tinyGuest,
    accelerator: accelerator(options.accelerator),
  });
}

const accelerator = (known: Accelerator | undefined): (() => Promise<Accelerator>) | undefined =>
  known === undefined ? undefined : async () => known;

async function libvirtIsHere(): Promise<boolean> {
  const answers = await Promise.allSettled(LIBVIRT_SOCKETS.map((socket) => access(socket, constants.W_OK)));
  return answers.some(({ status }) => status === 'fulfilled');
}
