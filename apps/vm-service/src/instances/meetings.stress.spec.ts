import 'reflect-metadata';
import { Readable } from 'node:stream';
import { BackupStores, type BackupStore } from '@headgate/backups';
import {
  areCompatible,
  BackupTargetStore,
  formatRef,
  meetingOf,
  ruleOf,
  type AbilityName,
  type BackgroundWork,
  type BackupTarget,
  type InstanceRef,
  type Operation,
} from '@headgate/domain-contracts';
import {
  BACKUP_OPERATIONS,
  buildVm,
  driverOf,
  MEETING_OPERATIONS,
  MemoryBackend,
  refOfMeeting,
  withStatus,
  type BackupOperation,
  type MeetingOperation,
  type MeetingVm,
  type OperationDriver,
} from '@headgate/testing';
import { Edge, type Reply } from '../testing/edge.js';

const MIB = 1024 ** 2;
const TARGET: BackupTarget = {
  owner: '',
  id: 'feed000000000001',
  name: 'nightly',
  kind: 'directory',
  path: '/backups/nightly',
  password: 'correct horse battery',
  creator: '',
  createdAt: '2026-01-01T00:00:00.000Z',
};

/** Takes every backup and keeps none. */
const TAKING: Partial<BackupStore> = {
  snapshots: async () => [],
  expectWritable: async () => undefined,
  write: async (_snapshot, fill) => {
    await fill({ disk: async () => undefined, data: async () => undefined });
    return { id: '0'.repeat(64), readBytes: 0, storedBytes: 0 };
  },
};

const vmOf = (name: string): MeetingVm => ({
  context: 'lab',
  namespace: 'default',
  name,
  bootDevice: 'vda',
  bootVolume: 'data',
  disk: 'data',
  network: 'lan',
  storage: 'fast',
  moveTo: { kind: 'memory', context: 'other' },
  backupTarget: TARGET.id,
});

const OPERATIONS = [...MEETING_OPERATIONS, ...BACKUP_OPERATIONS];

const refOf = (name: string): string => refOfMeeting(vmOf(name));

/**
 * Carries out the operations on the VMs of a backend, each until a test lets it end, and records which go on at the
 * same time.
 */
class Workshop {
  /** The operations that go on, by VM. */
  readonly active = new Map<string, Operation[]>();
  /** Operations that went on although they exclude each other. */
  readonly violations: string[] = [];
  private readonly gates = new Map<string, Promise<void>>();
  private readonly begun = new Map<string, () => void>();

  constructor(readonly backend: MemoryBackend) {}

  /** The next operation of this kind on the VM does not end before the returned function is called. */
  hold(name: string, operation: Operation): { readonly begun: Promise<void>; readonly end: () => void } {
    const gate = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    this.gates.set(`${name} ${operation}`, gate.promise);
    this.begun.set(`${name} ${operation}`, begun.resolve);
    return { begun: begun.promise, end: gate.resolve };
  }

  async work(name: string, operation: Operation): Promise<void> {
    const active = this.active.get(name) ?? [];
    for (const other of active)
      if (!areCompatible(ruleOf(other).uses, ruleOf(operation).uses)) this.violations.push(`${other} and ${operation}`);
    this.active.set(name, [...active, operation]);
    this.begun.get(`${name} ${operation}`)?.();
    await this.gates.get(`${name} ${operation}`);
    const left = [...(this.active.get(name) ?? [])];
    left.splice(left.indexOf(operation), 1);
    this.active.set(name, left);
  }

  /** Replaces a method of an ability. */
  replace(ability: AbilityName, methods: Record<string, (ref: InstanceRef, ...args: never[]) => unknown>): void {
    Object.assign(this.backend.require(ability), methods);
  }

  equip(): void {
    const request = (operation: Operation) => (ref: InstanceRef) => this.work(ref.name, operation);
    const background =
      (operation: Operation) =>
      ({ name }: InstanceRef): BackgroundWork =>
      async () =>
        this.work(name, operation);
    const plan = async () => ({ steps: [], warnings: [], refusals: [], effect: 'now' });
    const power = this.backend.require('power');
    const apply = power.apply.bind(power);
    this.replace('power', {
      apply: async (ref, action: never, options: never) => {
        await this.work(ref.name, action);
        await apply(ref, action, options);
      },
    });
    this.continue('provisioning', {
      delete: 'delete',
      // Operation requests set one tag with a patch, and another one without.
      setTag: (tag) => (tag === 'patched' ? 'patch' : 'tag'),
    });
    this.continue('cloning', { setTemplate: 'template' });
    this.replace('cloning', {
      planClone: plan,
      clone: async (ref) => ({ remaining: background('clone')(ref) }),
    });
    this.replace('hardware', {
      // Changes without steps are not carried out together with others.
      plan: async () => ({ ...(await plan()), steps: [{ name: 'change', detail: 'Change it.' }] }),
      read: async () => ({ pending: [] }),
      apply: async (ref, change: never) => {
        await this.work(ref.name, (change as { kind: Operation }).kind);
        return { effect: 'now' };
      },
      applyGroup: async (ref) => {
        await this.work(ref.name, 'hardware');
        return [{ effect: 'now' }];
      },
    });
    this.replace('diskMove', { plan, move: async (ref) => background('move-disk')(ref) });
    this.replace('migration', { plan, migrate: async (ref) => background('migrate')(ref) });
    this.replace('snapshots', {
      list: async () => [],
      planCreate: plan,
      planRestore: plan,
      planDelete: plan,
      create: async (ref) => ({ remaining: background('snapshot')(ref) }),
      restore: async (ref) => background('restore')(ref),
      delete: async (ref) => ({ remaining: background('delete-snapshot')(ref) }),
    });
    this.replace('backups', {
      check: async () => undefined,
      delete: request('delete-checkpoint'),
      open: async (ref) => this.stream(ref.name, 'export-running'),
    });
    this.replace('diskExport', {
      check: async () => undefined,
      open: async (ref) => this.stream(ref.name, 'export'),
    });
    this.replace('guestControl', {
      setPassword: request('guest-password'),
      run: async (ref) => {
        await this.work(ref.name, 'guest-command');
        return { exitCode: 0, stdout: '', stderr: '', truncated: false };
      },
    });
    this.continue('diskSource', { open: 'move' });
    const source = this.backend.require('backupSource');
    const open = source.open.bind(source);
    source.open = async (ref, ...args) => {
      const isRunning = this.backend.engine.vm(ref).status === 'Running';
      await this.work(ref.name, isRunning ? 'backup' : 'backup-stopped');
      return open(ref, ...args);
    };
  }

  /** Does the work of these methods when the test lets it go on. */
  private continue(ability: AbilityName, methods: Record<string, Operation | ((value: unknown) => Operation)>): void {
    const target = this.backend.require(ability) as unknown as Record<string, (...args: unknown[]) => Promise<unknown>>;
    for (const [method, operation] of Object.entries(methods)) {
      const original = target[method]?.bind(target);
      target[method] = async (ref, ...args) => {
        await this.work((ref as InstanceRef).name, typeof operation === 'function' ? operation(args[0]) : operation);
        return original?.(ref, ...args);
      };
    }
  }

  private stream(name: string, operation: Operation): Readable {
    const work = this.work(name, operation);
    return Readable.from(
      (async function* () {
        yield Buffer.from('the disk');
        await work;
      })(),
    );
  }
}

describe('two operations on one VM', () => {
  const workshop = new Workshop(new MemoryBackend('lab'));
  const other = new MemoryBackend('other');
  const edge = new Edge(workshop.backend);
  let count = 0;

  beforeAll(async () => {
    Object.assign(edge, { other });
    workshop.equip();
    await edge.open();
    await edge.send('POST', '/api/folders', { path: 'all' });
    await edge.service.app.get(BackupTargetStore, { strict: false }).put(TARGET);
    const stores = edge.service.app.get(BackupStores, { strict: false });
    stores.open = async () => TAKING as BackupStore;
  });

  afterAll(() => edge.close());

  const send = (operation: MeetingOperation | BackupOperation, name: string): Promise<Reply> => {
    const { method, path, body } = driverOf(operation).request(vmOf(name));
    return edge.send(method, path, body);
  };
  const path = (name: string, rest = ''): string => `/api/vms/default/${name}${rest}`;
  const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

  function given(needs: OperationDriver['needs'] = 'Stopped'): string {
    const name = `vm-${++count}`;
    const ref = { kind: 'vm', context: 'lab', namespace: 'default', name } as const;
    workshop.backend.engine.put(withStatus(buildVm({ ref, uid: `uid-${name}`, diskBytes: MIB }), needs));
    workshop.backend.engine.disks.set(`${formatRef(ref)} vda`, Buffer.alloc(MIB));
    return name;
  }

  async function allEnded(name: string): Promise<void> {
    for (;;) {
      const list = (await edge.send('GET', '/api/vms')).json as unknown as { name: string; busy?: object }[];
      if (!list.some((entry) => entry.name === name && entry.busy) && !workshop.active.get(name)?.length) return;
      await turn();
    }
  }

  const pairs = OPERATIONS
    // A folder is not changed by a backend, so that no test can hold it.
    .filter((first) => first !== 'folder')
    .map((first) => [first] as const);

  test.each(pairs)('go on, wait or are refused as the table says: %s', async (first) => {
    const begin = driverOf(first);
    for (const second of OPERATIONS) {
      const meet = driverOf(second);
      if (begin.needs && meet.needs && begin.needs !== meet.needs) continue;
      const name = given(begin.needs ?? meet.needs);
      const held = workshop.hold(name, first);
      const firstAnswer = send(first, name);
      await Promise.race([
        held.begun,
        firstAnswer.then(() => (ruleOf(first).lasts === 'long' ? held.begun : undefined)),
      ]);
      expect([first, second, workshop.active.get(name)]).toEqual([first, second, [first]]);
      let answer: Reply | undefined;
      const secondAnswer = send(second, name).then((reply) => (answer = reply));
      const meeting = meetingOf(first, second);
      if (meeting === 'refused') {
        expect([first, second, (await secondAnswer).status, answer?.json.code ?? 'BUSY']).toEqual([
          first,
          second,
          409,
          second === 'move' ? 'MOVE_REFUSED' : 'BUSY',
        ]);
      } else if (meeting === 'waits') {
        for (let turns = 0; turns < 5; turns++) await turn();
        expect([first, second, answer?.body]).toEqual([first, second, undefined]);
      } else if (first !== second) {
        expect([first, second, (await secondAnswer).status < 300]).toEqual([first, second, true]);
      }
      held.end();
      expect([first, second, (await firstAnswer).status < 300]).toEqual([first, second, true]);
      await secondAnswer;
      if (meeting === 'waits') expect([first, second, answer?.json.code]).not.toContain('BUSY');
      await allEnded(name);
    }
    expect(workshop.violations).toEqual([]);
  });

  test('are one creation and one refusal when both want a name', async () => {
    const source = given();
    const target = `${source}-copy`;
    const held = workshop.hold(source, 'clone');
    const clone = await send('clone', source);
    expect(clone.status).toBeLessThan(300);
    await held.begun;
    const again = await send('clone', source);
    const elsewhere = await edge.send('POST', path(given(), '/clone'), { target });
    const created = await edge.send('POST', '/api/vms', {
      name: target,
      namespace: 'default',
      context: 'lab',
      image: 'tiny',
    });
    for (const { status, json } of [again, elsewhere]) expect([status, json.code]).toEqual([409, 'BUSY']);
    expect([409, 400]).toContain(created.status);
    const plan = await edge.send('POST', `${path(source, '/start')}?dryRun=true`);
    expect(plan.json).toMatchObject({ refusals: [{ code: 'BUSY', reason: expect.stringContaining('clone-') }] });
    const list = (await edge.send('GET', '/api/vms')).json as unknown as { ref: string; busy?: object }[];
    expect(list.find(({ ref }) => ref === refOf(source))?.busy).toEqual({
      task: clone.json['task'],
      action: 'clone',
    });
    held.end();
    await allEnded(source);
  });

  test.each([
    ['clone', 'Running', 'migrate'],
    ['migrate', 'Stopped', 'clone'],
    ['export', 'Running', 'migrate'],
    ['move', 'Running', 'restore'],
  ] as const)(
    'are BUSY before any other obstacle: %s of a VM that is %s, during: %s',
    async (second, status, first) => {
      const name = given(status);
      const held = workshop.hold(name, first);
      const task = (await send(first, name)).json['task'];
      await held.begun;
      // The engine would refuse it for its state, too.
      const { status: code, json } = await send(second, name);
      const reasons = (json['refusals'] as { code: string; reason: string }[] | undefined) ?? [
        { code: json.code, reason: json.error },
      ];
      expect([code, reasons[0]]).toEqual([
        409,
        { ...reasons[0], code: 'BUSY', reason: expect.stringContaining(String(task)) },
      ]);
      held.end();
      await allEnded(name);
    },
  );

  test('are BUSY before any other obstacle in dry runs, too', async () => {
    const name = given('Running');
    const held = workshop.hold(name, 'migrate');
    const task = String((await send('migrate', name)).json['task']);
    await held.begun;
    const requests: [string, object?][] = [
      [`${path(name, '/clone')}?dryRun=true`, { target: `${name}-copy` }],
      [`${path(name, '/template')}?dryRun=true`, { on: true }],
    ];
    for (const [path, body] of requests) {
      const { json } = await edge.send('POST', path, body);
      const [first] = (json['refusals'] as { code: string; reason: string }[] | undefined) ?? [
        { code: json.code, reason: json.error },
      ];
      expect([path, first?.code, first?.reason]).toEqual([path, 'BUSY', expect.stringContaining(task)]);
    }
    held.end();
    await allEnded(name);
  });

  test('is one operation of a VM that is being deleted', async () => {
    const name = given();
    workshop.backend.engine.put(
      withStatus(workshop.backend.engine.vm({ kind: 'vm', context: 'lab', namespace: 'default', name }), 'Terminating'),
    );
    for (const operation of ['start', 'tag', 'snapshot', 'clone', 'scale', 'export'] as const) {
      const { status, json } = await send(operation, name);
      expect([operation, status, json.code]).toEqual([operation, 409, 'BUSY']);
    }
    expect(formatRef({ kind: 'vm', context: 'lab', namespace: 'default', name })).toBe(refOf(name));
  });
});
