import { SystemClock, type Backend, type TaskReporter } from '@headgate/domain-contracts';
import { LibvirtBackend } from '../libvirt-backend.js';
import { LOCAL_NAMESPACE } from '../domains/instance-name.js';

/**
 * The contexts of a service that migrates one guest from the first to the second one, and the moment at which it is
 * killed.
 */
export interface KilledMigration {
  readonly contexts: readonly {
    readonly context: string;
    readonly uri: string;
    readonly dataDir: string;
    readonly poolPath: string;
  }[];
  readonly name: string;
  /** The beginning of the name of a step; `progress` is the middle of the copy. */
  readonly killAt: string;
  /** The ID of its task. */
  readonly task: string;
}

const { contexts, name, killAt, task } = JSON.parse(process.argv[2] ?? '') as KilledMigration;
const backends: LibvirtBackend[] = [];
for (const context of contexts)
  backends.push(
    LibvirtBackend.open({
      ...context,
      clock: new SystemClock(),
      accelerator: () => Promise.resolve('tcg'),
      peers: (): readonly Backend[] => backends,
    }),
  );
const killIf = (isMoment: boolean): void => {
  if (isMoment) process.kill(process.pid, 'SIGKILL');
};
const report: TaskReporter = {
  step: (step) => killIf(step.startsWith(killAt)),
  log: () => undefined,
  progress: () => killIf(killAt === 'progress'),
  signal: new AbortController().signal,
};
const [first, second] = contexts.map(({ context }) => context);
const ref = { kind: 'vm', context: first ?? '', namespace: LOCAL_NAMESPACE, name } as const;
const work = await backends[0]?.require('migration').migrate(ref, second, { id: task, wasRunning: true });
await work?.(report);
