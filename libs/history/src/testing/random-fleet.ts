import { formatRef, type Container, type Instance, type VirtualMachine } from '@headgate/domain-contracts';
import type { RecordedContext, RecordedEntry, RecordedEvent, RecordedFleet } from '../recorded.js';

/** Numbers from 0 to 1, the same for each seed (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const CONTEXTS = ['lab', 'prod', 'edge'];
const TAGS = ['db', 'web', 'blue', 'green'];
const FOLDERS = [undefined, 'prod', 'prod/web', 'lab'];

/** A fleet whose changes are random, and the same for each seed. */
export class RandomFleet implements RecordedFleet {
  readonly random: () => number;
  private readonly known = new Map<string, RecordedEntry>();
  private readonly states = new Map<string, RecordedContext>();
  private created = 0;

  constructor(
    seed: number,
    count: number,
    private readonly emit: (event: RecordedEvent) => void = () => undefined,
  ) {
    this.random = seededRandom(seed);
    for (const context of CONTEXTS) this.states.set(context, { context, kind: 'kubevirt', state: 'up' });
    for (let index = 0; index < count; index++) this.put(this.build());
  }

  entries(): Iterable<RecordedEntry> {
    return this.known.values();
  }

  contexts(): readonly RecordedContext[] {
    return [...this.states.values()];
  }

  /** A change such as a fleet has all the time: power, address, task, tag. */
  changeOne(): void {
    const entry = this.pick([...this.known.values()]);
    if (entry) this.put(this.changed(entry));
  }

  /** Any change. */
  step(): void {
    const value = this.random();
    const entry = this.pick([...this.known.values()]);
    if (value < 0.1 || !entry) return this.put(this.build());
    if (value < 0.17) return this.remove(entry);
    if (value < 0.2) return this.rename(entry);
    // The same name, but another object.
    if (value < 0.22) return this.put({ ...entry, instance: { ...entry.instance, uid: `new-${++this.created}` } });
    if (value < 0.24) return this.turn(this.pick([...this.states.values()])!);
    if (value < 0.25) return this.detach(this.pick(CONTEXTS)!);
    this.put(this.changed(entry));
  }

  private build(): RecordedEntry {
    const number = ++this.created;
    const context = this.pick([...this.states.keys()]) ?? this.attach('lab');
    const base = {
      backend: 'kubevirt',
      uid: `6a1c1f52-0b2e-4c5b-9a52-${String(number).padStart(12, '0')}`,
      ready: false,
      cpu: 1 + (number % 8),
      memoryBytes: 2 ** 30 * (1 + (number % 16)),
      tags: [TAGS[number % TAGS.length]!],
      createdAt: '2026-01-01T00:00:00Z',
    } as const;
    const ref = { context, namespace: `team-${number % 20}`, name: `vm-${number}` };
    const stale = this.states.get(context)!.state === 'lost';
    if (number % 10 === 0) {
      const phase = 'Running' as Container['phase'];
      return {
        stale,
        instance: { ...base, ref: { kind: 'ct', ...ref }, phase, image: 'nginx:1.27', privileged: false },
      };
    }
    const vm: VirtualMachine = {
      ...base,
      ref: { kind: 'vm', ...ref },
      status: 'Stopped',
      diskBytes: 20 * 2 ** 30,
      isTemplate: false,
      liveMigratable: true,
      agentConnected: false,
      protected: false,
      restartRequired: false,
    };
    return { stale, instance: vm };
  }

  private changed(entry: RecordedEntry): RecordedEntry {
    const { instance } = entry;
    const number = Math.floor(this.random() * 250);
    const changes: (() => RecordedEntry)[] = [
      () => ({ ...entry, instance: { ...instance, ready: !instance.ready, node: `node-${number % 7}` } }),
      () => ({ ...entry, instance: { ...instance, tags: TAGS.filter(() => this.random() < 0.5) } }),
      () => ({ ...entry, instance: withoutReason(instance) }),
      () => ({ ...entry, instance: { ...instance, reason: `The node node-${number} has no space, says "kubelet".` } }),
      () => ({ ...withoutFolder(entry), ...folder(FOLDERS[number % FOLDERS.length]) }),
      () => ({ ...entry, busy: { operation: 'migrate', task: `migrate-vm-${number}` } }),
      () => ({ instance, stale: entry.stale, ...folder(entry.folder) }),
    ];
    if (instance.ref.kind === 'vm') {
      const vm = instance as VirtualMachine;
      const isRunning = vm.status === 'Running';
      const power = isRunning
        ? ({ status: 'Stopped', ready: false, ip: undefined } as unknown as Partial<VirtualMachine>)
        : ({
            status: 'Running',
            ready: true,
            ip: `10.0.${number}.7`,
            startedAt: `2026-01-01T00:00:${number % 60}Z`,
          } as const);
      for (let often = 0; often < 5; often++) changes.push(() => ({ ...entry, instance: { ...vm, ...power } }));
    }
    return this.pick(changes)!();
  }

  private rename(entry: RecordedEntry): void {
    this.remove(entry);
    const { instance } = entry;
    this.put({
      ...entry,
      instance: { ...instance, ref: { ...instance.ref, name: `renamed-${++this.created}` } } as Instance,
    });
  }

  /** A context is lost, or comes back. */
  private turn(state: RecordedContext): void {
    const isLost = state.state !== 'lost';
    const { context, kind } = state;
    const next: RecordedContext = isLost
      ? { context, kind, state: 'lost', reason: `${context} does not answer.` }
      : { context, kind, state: 'up' };
    this.states.set(context, next);
    for (const entry of [...this.known.values()])
      if (entry.instance.ref.context === context) this.put({ ...entry, stale: isLost });
    this.emit({ type: 'status', state: next });
  }

  private detach(context: string): void {
    const state = this.states.get(context);
    if (!state) return void this.attach(context);
    this.states.delete(context);
    for (const { instance } of [...this.known.values()].filter((entry) => entry.instance.ref.context === context)) {
      this.known.delete(formatRef(instance.ref));
      this.emit({ type: 'removed', instance, isDetached: true });
    }
    this.emit({ type: 'status', state: { context, kind: state.kind, state: 'detached' } });
  }

  private attach(context: string): string {
    const state: RecordedContext = { context, kind: 'kubevirt', state: 'up' };
    this.states.set(context, state);
    this.emit({ type: 'status', state });
    return context;
  }

  private put(entry: RecordedEntry): void {
    this.known.set(formatRef(entry.instance.ref), entry);
    this.emit({ type: 'changed', entry });
  }

  private remove({ instance }: RecordedEntry): void {
    this.known.delete(formatRef(instance.ref));
    this.emit({ type: 'removed', instance });
  }

  private pick<T>(values: readonly T[]): T | undefined {
    return values[Math.floor(this.random() * values.length)];
  }
}

const folder = (path: string | undefined): Pick<RecordedEntry, 'folder'> =>
  path === undefined ? {} : { folder: path };

function withoutFolder(entry: RecordedEntry): RecordedEntry {
  const { folder: _folder, ...rest } = entry;
  return rest;
}

function withoutReason(instance: Instance): Instance {
  const { reason: _reason, ...rest } = instance;
  return rest as Instance;
}

/** The fleet as text, for comparisons: sorted, and without undefined fields. */
export const textOf = (fleet: {
  readonly entries: Iterable<RecordedEntry>;
  readonly contexts: readonly RecordedContext[];
}): string =>
  [...fleet.entries, ...fleet.contexts]
    .map((one) => JSON.stringify(one, (_key, value: unknown) => (isPlain(value) ? sorted(value) : value)))
    .toSorted()
    .join('\n');

const isPlain = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const sorted = (value: Record<string, unknown>): object =>
  Object.fromEntries(Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1)));
