import 'reflect-metadata';
import type { Task } from '@headgate/domain-contracts';
import { driverOf, PRECONDITIONS, refOfMeeting, type MeetingOperation, type MeetingVm } from '@headgate/testing';
import type { ListEntry } from '../testing/cluster-state.js';
import { SandboxLab } from '../testing/sandbox-lab.js';
import type { Reply } from '../testing/test-service.js';

const TIMEOUT_MS = 120_000;
const vms = (name: string, path = ''): string => `/api/vms/tailvm/${name}${path}`;

describe('operations that meet in a cluster', () => {
  let lab: SandboxLab;

  beforeAll(async () => {
    lab = await SandboxLab.create();
    await lab.open();
  }, TIMEOUT_MS);

  afterAll(() => lab.close());
  beforeEach(() => lab.run());

  const request = (operation: MeetingOperation, vm: MeetingVm): Promise<Reply> => {
    const { method, path, body } = driverOf(operation).request(vm);
    return lab.send(method, path, body);
  };
  const list = async (): Promise<ListEntry[]> => (await lab.send('GET', '/api/vms')).json as unknown as ListEntry[];
  const ended = async (answer: Reply, name: string): Promise<Task> => {
    await lab.settle(name);
    return (await lab.send('GET', `/api/tasks/${String(answer.json['task'])}`)).json as unknown as Task;
  };
  const givenSnapshot = async (vm: MeetingVm): Promise<void> => {
    const { method, path, body } = PRECONDITIONS.snapshot(vm);
    expect((await lab.send(method, path, body)).status).toBe(200);
    await lab.settle(vm.name);
  };

  async function expectBusy(task: unknown, vm: MeetingVm, operations: readonly MeetingOperation[]): Promise<void> {
    for (const operation of operations) {
      const { status, json } = await request(operation, vm);
      expect([operation, status, json.code, json['details']]).toEqual([
        operation,
        409,
        'BUSY',
        expect.objectContaining({ task }),
      ]);
    }
  }

  /** Exactly one of the requests wins, whichever it is. The tasks of the winner end. */
  async function expectOneWinner(name: string, requests: readonly (() => Promise<Reply>)[]): Promise<void> {
    const answers = await Promise.all(requests.map((send) => send()));
    const winners = answers.filter(({ status }) => status < 300);
    expect(answers.map(({ status, body }) => (status < 300 ? '' : body)).filter(Boolean)).toHaveLength(
      requests.length - 1,
    );
    for (const { status } of answers.filter((answer) => !winners.includes(answer))) expect(status).toBe(409);
    await lab.settle(name);
    const task = winners[0]?.json['task'];
    if (task !== undefined) {
      const { status, error } = (await lab.send('GET', `/api/tasks/${String(task)}`)).json as unknown as Task;
      expect([status, error]).toEqual(['done', '']);
    }
  }

  test(
    'a move with deleteSource takes everything along that was acknowledged before, and refuses all later changes',
    async () => {
      const vm = await lab.givenVm('Stopped');
      expect((await request('tag', vm)).status).toBe(200);
      expect((await request('scale', vm)).status).toBe(200);
      lab.hold();
      const moved = await lab.send('POST', '/api/move', {
        ref: refOfMeeting(vm),
        toBackend: 'kubevirt',
        toContext: 'other',
        name: `${vm.name}-moved`,
        deleteSource: true,
      });
      expect(moved.status).toBe(200);
      const changes = ['tag', 'scale', 'template', 'snapshot', 'start', 'delete', 'clone'] as const;
      await expectBusy(moved.json['task'], vm, changes);
      const plan = await lab.send('POST', `${vms(vm.name, '/start')}?dryRun=true`);
      expect(plan.json).toMatchObject({ refusals: [{ code: 'BUSY' }] });
      expect(await ended(moved, vm.name)).toMatchObject({ status: 'done', error: '' });
      expect((await list()).filter(({ name }) => name.startsWith(vm.name))).toMatchObject([
        { context: 'other', name: `${vm.name}-moved`, tags: ['prod'], cpu: 3, isTemplate: false, status: 'Stopped' },
      ]);
      await lab.remove(vm.name);
    },
    TIMEOUT_MS,
  );

  test(
    'a restore refuses power, size and the deletion of its snapshot, and the VM is not running meanwhile',
    async () => {
      for (const state of ['Stopped', 'Running'] as const) {
        const vm = await lab.givenVm(state);
        await givenSnapshot(vm);
        lab.hold();
        const restored = await request('restore', vm);
        expect(restored.status).toBe(200);
        await expectBusy(restored.json['task'], vm, ['start', 'stop', 'scale', 'delete-snapshot', 'delete']);
        expect(await ended(restored, vm.name)).toMatchObject({ status: 'done', error: '' });
        expect(lab.restoreViolations).toEqual([]);
        await lab.remove(vm.name);
      }
    },
    TIMEOUT_MS,
  );

  test(
    'a restore powers off a VM that is about to start, and starts it again',
    async () => {
      const vm = await lab.givenVm('Stopped');
      await givenSnapshot(vm);
      lab.hold();
      expect((await request('start', vm)).status).toBe(200);
      const restored = await request('restore', vm);
      expect(restored.status).toBe(200);
      expect(await ended(restored, vm.name)).toMatchObject({ status: 'done', error: '' });
      expect([lab.restoreViolations, await lab.entry(vm.name)]).toMatchObject([[], { status: 'Running' }]);
      await lab.remove(vm.name);
    },
    TIMEOUT_MS,
  );

  test(
    'a deletion and a snapshot exclude each other, and the next VM of that name has no snapshot',
    async () => {
      for (const order of [
        ['delete', 'snapshot'],
        ['snapshot', 'delete'],
      ] as const) {
        const vm = await lab.givenVm('Stopped');
        const answers = await Promise.all(order.map((operation) => request(operation, vm)));
        for (const { status } of answers) expect([200, 404, 409]).toContain(status);
        const winners = order.filter((_operation, index) => answers[index]?.status === 200);
        expect([order, winners]).toEqual([order, [expect.any(String)]]);
        await lab.settle(vm.name);
        if (winners[0] === 'snapshot') await lab.remove(vm.name);
        await lab.until(
          async () => lab.objectsOf(vm.name).length === 0,
          'nothing is left',
          () => lab.objectsOf(vm.name),
        );
        await lab.givenVm('Stopped', vm.name);
        expect((await lab.send('GET', vms(vm.name, '/snapshots'))).json).toEqual([]);
        await lab.remove(vm.name);
      }
    },
    TIMEOUT_MS,
  );

  test(
    'of two that want one name, exactly one gets it',
    async () => {
      const create = (name: string) => () =>
        lab.send('POST', '/api/vms', {
          name,
          namespace: 'tailvm',
          context: 'lab',
          import: 'https://images.example/d.qcow2',
          cpu: 1,
          mem: '256Mi',
          disk: '16Mi',
        });
      const clone = (source: string, target: string) => () => lab.send('POST', vms(source, '/clone'), { target });
      const moveIn = (from: string, name: string) => () =>
        lab.send('POST', '/api/move', {
          ref: `vm/other/tailvm/${from}`,
          toBackend: 'kubevirt',
          toContext: 'lab',
          name,
        });
      const prefix = lab.freshName();
      const [one, two, target] = [`${prefix}-one`, `${prefix}-two`, `${prefix}-new`];
      await lab.givenVm('Stopped', one);
      await lab.givenVm('Stopped', two);
      lab.other.simulation.seedVm({ name: `${prefix}-three`, status: 'Stopped', memory: '256Mi', disk: '16Mi' });
      await lab.until(async () => (await lab.entry(`${prefix}-three`, 'other')) !== undefined, 'it is listed');
      const contests = [
        [clone(one, target), clone(two, target)],
        [clone(one, target), create(target)],
        [create(target), clone(one, target)],
        [create(target), create(target)],
        [clone(one, target), moveIn(`${prefix}-three`, target)],
        [moveIn(`${prefix}-three`, target), create(target), clone(two, target)],
      ];
      for (const contest of contests) {
        await expectOneWinner(prefix, contest);
        expect((await list()).filter(({ name, context }) => name === target && context === 'lab')).toHaveLength(1);
        await lab.removeOnly(target);
      }
      await lab.remove(prefix);
    },
    TIMEOUT_MS,
  );

  test(
    'the source of a clone is kept until the clone has ended',
    async () => {
      const vm = await lab.givenVm('Stopped');
      lab.hold();
      const cloned = await request('clone', vm);
      expect(cloned.status).toBe(200);
      await expectBusy(cloned.json['task'], vm, ['delete', 'start', 'scale', 'tag']);
      expect(await ended(cloned, vm.name)).toMatchObject({ status: 'done', error: '' });
      expect((await list()).map(({ name }) => name)).toContain(`${vm.name}-copy`);
      await lab.remove(vm.name);
    },
    TIMEOUT_MS,
  );
});
