import 'reflect-metadata';
import { DiskBuilder, formatRef, type InstanceRef } from '@headgate/domain-contracts';
import {
  buildVm,
  driverOf,
  MEETING_OPERATIONS,
  MemoryBackend,
  refOfMeeting,
  type MeetingOperation,
  type MeetingVm,
} from '@headgate/testing';
import { Edge, type Reply } from '../testing/edge.js';
import { holdMethod, type HeldMethod } from '../testing/hold-method.js';

const MIB = 1024 ** 2;
const TIMEOUT_MS = 120_000;

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
});

type Creator = 'create' | 'create from a URL' | 'build' | 'clone' | 'move';
const CREATORS: readonly Creator[] = ['create', 'create from a URL', 'build', 'clone', 'move'];

/** When the second request is sent: with the first one, while that is held in the backend, or after its response. */
const MOMENTS = ['together', 'held', 'answered'] as const;
type Moment = (typeof MOMENTS)[number];

/** Answers that would be untrue. A creation ends with its response, so that another request waits for it. */
const REFUSED: Readonly<Record<'create' | 'build', Readonly<Record<Moment, RegExp>>>> = {
  create: {
    together: /BUSY|^500/,
    held: /BUSY|^500/,
    answered: /BUSY|INSTANCE_NOT_FOUND|^500/,
  },
  build: { together: /^500/, held: /^500/, answered: /^500/ },
};

describe('creations that meet other operations', () => {
  const backend = new MemoryBackend('lab');
  const other = new MemoryBackend('other');
  const edge = new Edge(backend);
  let builder: DiskBuilder;
  let count = 0;

  beforeAll(async () => {
    Object.assign(edge, { other });
    await edge.open();
    builder = edge.service.app.get(DiskBuilder);
    Object.assign(builder, {
      availability: async () => true,
      plan: async () => [],
      pull: async () => undefined,
      install: async () => '/disks/built',
      remove: async () => undefined,
    });
    await edge.send('POST', '/api/folders', { path: 'all' });
  });

  afterAll(() => edge.close());

  const turn = () => new Promise<void>((resolve) => setImmediate(resolve));
  const freshName = (): string => `n${(++count).toString().padStart(4, '0')}x`;
  const listed = async (path: string) =>
    (await edge.send('GET', path)).json as unknown as readonly { readonly ref: string; readonly name: string }[];

  function put(engine: MemoryBackend['engine'], ref: InstanceRef): void {
    engine.put(buildVm({ ref, uid: engine.nextUid(), status: 'Stopped', ready: false, diskBytes: MIB }));
    engine.disks.set(`${formatRef(ref)} vda`, Buffer.alloc(MIB));
  }

  /** @param which a different source for each of two creations */
  function request(creator: Creator, name: string, which: string): () => Promise<Reply> {
    const body = { name, namespace: 'default', context: 'lab' };
    switch (creator) {
      case 'create':
        return () => edge.send('POST', '/api/vms', { ...body, image: 'tiny' });
      case 'create from a URL':
        return () => edge.send('POST', '/api/vms', { ...body, import: 'https://images.example/a.qcow2' });
      case 'build':
        return () => edge.send('POST', '/api/vms', { ...body, bootc: 'quay.example/os/base:1' });
      case 'clone': {
        const source = `${name}-${which}`;
        put(backend.engine, { kind: 'vm', context: 'lab', namespace: 'default', name: source });
        return () => edge.send('POST', `/api/vms/default/${source}/clone`, { target: name });
      }
      case 'move': {
        const ref = { kind: 'vm', context: 'other', namespace: 'default', name: `${name}-${which}` } as const;
        put(other.engine, ref);
        return () =>
          edge.send('POST', '/api/move', { ref: formatRef(ref), toBackend: 'memory', toContext: 'lab', name });
      }
    }
  }

  function hold(creator: Creator): HeldMethod {
    if (creator === 'build') return holdMethod(builder, 'install');
    if (creator === 'clone') return holdMethod(backend.require('cloning'), 'clone');
    if (creator === 'move') return holdMethod(backend.require('diskIngest'), 'begin');
    return holdMethod(backend.require('provisioning'), 'create');
  }

  const operate = (operation: MeetingOperation, name: string): Promise<Reply> => {
    const { method, path, body } = driverOf(operation).request(vmOf(name));
    return edge.send(method, path, body);
  };

  async function meet(first: () => Promise<Reply>, second: () => Promise<Reply>, moment: Moment, held?: HeldMethod) {
    const firstAnswer = first();
    if (moment === 'answered') await firstAnswer;
    if (moment === 'held') await held?.begun;
    const secondAnswer = second();
    if (moment === 'held') {
      for (let turns = 0; turns < 20; turns++) await turn();
      held?.end();
    }
    return [await firstAnswer, await secondAnswer] as const;
  }

  const tasksOf = async (name: string) =>
    ((await edge.send('GET', '/api/tasks')).json as unknown as { id: string; ref: string; status: string }[]).filter(
      ({ id, ref }) => id.includes(name) || ref.includes(name),
    );

  /** All tasks about the name end, and the list agrees with both engines. */
  async function settle(name: string): Promise<void> {
    while ((await tasksOf(name)).some(({ status }) => status === 'running')) await turn();
    const engines = [backend, other].flatMap(({ engine }) => engine.all());
    const isMeant = (text: string): boolean => text.includes(name);
    const existing = engines.map(({ ref }) => formatRef(ref)).filter((ref) => isMeant(ref) && ref.startsWith('vm/'));
    const entries = (await listed('/api/vms')).filter((entry) => isMeant(entry.name));
    expect(entries.map(({ ref }) => ref).sort()).toEqual(existing.sort());
  }

  /** Deletes everything of the name. Nothing of it is left in the engines. */
  async function removeAll(name: string): Promise<void> {
    for (const path of ['/api/vms', '/api/cts'])
      for (const entry of (await listed(path)).filter((one) => one.name.includes(name))) {
        const [, context = ''] = entry.ref.split('/');
        const { status, body } = await edge.send('DELETE', `${path}/default/${entry.name}?context=${context}`);
        expect([entry.name, status, body]).toEqual([entry.name, 200, expect.anything()]);
      }
    for (const { engine } of [backend, other]) {
      const left = [
        ...engine.all().map(({ ref }) => formatRef(ref)),
        ...engine.disks.keys(),
        ...engine.portable.keys(),
      ];
      expect(left.filter((one) => one.includes(name))).toEqual([]);
    }
    expect(await tasksOf(name)).not.toContainEqual(expect.objectContaining({ status: 'running' }));
  }

  const contests = CREATORS.flatMap((first) => MOMENTS.map((moment) => [first, moment] as const));

  test.each(contests)(
    'one of two creations gets a name: %s first, %s',
    async (first, moment) => {
      for (const second of CREATORS) {
        const name = freshName();
        const [one, two] = [request(first, name, 'one'), request(second, name, 'two')];
        const answers = await meet(one, two, moment, moment === 'held' ? hold(first) : undefined);
        const winners = answers.filter(({ status }) => status < 300);
        expect([first, second, winners.length]).toEqual([first, second, 1]);
        if (moment !== 'together') expect([first, second, winners[0] === answers[0]]).toEqual([first, second, true]);
        const loser = answers.find((answer) => !winners.includes(answer));
        expect([first, second, loser?.status, loser?.json.code]).toEqual([
          ...[first, second, 409],
          expect.stringMatching(/^(BUSY|ALREADY_EXISTS|MOVE_REFUSED)$/),
        ]);
        await settle(name);
        const task = winners[0]?.json['buildTask'] ?? winners[0]?.json['task'];
        if (task !== undefined)
          expect((await edge.send('GET', `/api/tasks/${String(task)}`)).json).toMatchObject({
            status: 'done',
            error: '',
          });
        expect(backend.engine.all().filter(({ ref }) => ref.name === name)).toHaveLength(1);
        await removeAll(name);
      }
    },
    TIMEOUT_MS,
  );

  test.each(MOMENTS)('a VM and a container do not share a name, but two containers do: %s', async (moment) => {
    const container = (name: string) => () =>
      edge.send('POST', '/api/cts', { name, namespace: 'default', context: 'lab', image: 'quay.example/a:1' });
    for (const creator of CREATORS) {
      const name = freshName();
      const held = moment === 'held' ? hold(creator) : undefined;
      const answers = await meet(request(creator, name, 'one'), container(name), moment, held);
      expect([creator, ...answers.map(({ status }) => status < 300)]).toEqual([creator, true, true]);
      await settle(name);
      await removeAll(name);
    }
    const name = freshName();
    const held = moment === 'held' ? holdMethod(backend.require('containers'), 'create') : undefined;
    const answers = await meet(container(name), container(name), moment, held);
    expect(answers.map(({ status }) => status < 300).sort()).toEqual([false, true]);
    expect(answers.find(({ status }) => status >= 300)?.status).toBe(409);
    await removeAll(name);
  });

  const created = (['create', 'build'] as const).flatMap((first) => MOMENTS.map((moment) => [first, moment] as const));

  test.each(created)(
    'a VM that does not exist yet is unknown, and changes as soon as it exists: %s first, %s',
    async (first, moment) => {
      for (const second of MEETING_OPERATIONS) {
        const name = freshName();
        const held = moment === 'held' ? hold(first) : undefined;
        const [one, two] = await meet(request(first, name, 'one'), () => operate(second, name), moment, held);
        expect([first, second, one.status < 300]).toEqual([first, second, true]);
        const code = `${two.status} ${two.json.code === 'MOVE_REFUSED' ? two.body : String(two.json.code)}`;
        expect([first, second, code]).not.toEqual([first, second, expect.stringMatching(REFUSED[first][moment])]);
        // A build excludes everything else until the VM is complete.
        if (first === 'build' && moment === 'held')
          expect([first, second, code]).toEqual([first, second, expect.stringMatching(/NOT_FOUND|BUSY/)]);
        await settle(name);
        expect([second, backend.engine.all().some(({ ref }) => ref.name === name)]).toEqual([
          second,
          !(second === 'delete' && two.status < 300),
        ]);
        await removeAll(name);
      }
    },
    TIMEOUT_MS,
  );

  test.each(['together', 'answered'] as const)(
    'a change of the folder is kept whatever comes after it: %s',
    async (moment) => {
      for (const second of MEETING_OPERATIONS) {
        const name = freshName();
        put(backend.engine, { kind: 'vm', context: 'lab', namespace: 'default', name });
        const [one, two] = await meet(
          () => operate('folder', name),
          () => operate(second, name),
          moment,
        );
        const isDeleted = second === 'delete' && two.status < 300;
        expect([second, one.status < 300 || isDeleted, two.json.code]).toEqual([second, true, two.json.code]);
        if (one.status < 300) expect([second, two.json.code]).not.toEqual([second, 'BUSY']);
        await settle(name);
        const { json } = await edge.send('GET', '/api/folders');
        const [all] = json['folders'] as { members: { ref: string }[]; missing: string[] }[];
        const refs = [...(all?.members ?? []).map(({ ref }) => ref), ...(all?.missing ?? [])];
        expect([second, refs.includes(refOfMeeting(vmOf(name)))]).toEqual([second, one.status < 300 && !isDeleted]);
        await removeAll(name);
      }
    },
    TIMEOUT_MS,
  );
});
