import { gunzipSync } from 'node:zlib';
import { meetingOf } from '@headgate/domain-contracts';
import { MEETING_OPERATIONS, type MeetingOperation, type MeetingVm, type OperationRequest } from '@headgate/testing';
import { createRequest, DISK_BYTES } from './blank-vm.js';
import { LibvirtLab, type Reply } from './libvirt-lab.js';
import { BRIEF_OPERATIONS, LONG_OPERATIONS, PAIRS, requestOn } from './likely-pairs.js';
import { describeIf, noGuestsBecause } from './machine.js';
import { violationsOf } from './meeting-effects.js';

const START_TIMEOUT_MS = 600_000;
const TIMEOUT_MS = 900_000;
/** How many pairs meet at the same time. */
const LANES = 3;

type Answers = (readonly [MeetingOperation, Reply])[];

describeIf(noGuestsBecause(), 'operations that meet on libvirt', () => {
  let lab: LibvirtLab;
  /** VMs that nothing may touch. */
  let others: readonly [here: string, there: string];
  let before: readonly string[];

  beforeAll(async () => {
    lab = await LibvirtLab.start();
    others = [(await lab.givenVm({ operations: ['restore'] })).name, (await lab.givenVm({ context: 'there' })).name];
    before = await stateOfOthers();
  }, START_TIMEOUT_MS);
  afterAll(() => lab?.close(), TIMEOUT_MS);
  afterEach(() => lab.releaseAll());

  const stateOfOthers = async (): Promise<string[]> => [
    ...(await lab.contents()),
    ...[await lab.here.fingerprint(others[0]), await lab.there.fingerprint(others[1])],
  ];
  const refusedDuring = (first: MeetingOperation): MeetingOperation[] =>
    MEETING_OPERATIONS.filter((second) => meetingOf(first, second) === 'refused');

  async function expectRefused(second: MeetingOperation, vm: MeetingVm, code: string, task = vm.name): Promise<void> {
    const { status, body } = await lab.send(requestOn(vm, second));
    const [refusal] = second === 'move' ? (body['refusals'] as { code: string }[]) : [body as { code: string }];
    const expected = [second, 409, code, expect.stringContaining(task)];
    expect([second, status, refusal?.code, JSON.stringify(body)]).toEqual(expected);
  }

  async function expectEnd(vm: MeetingVm, status: 'Running' | 'Stopped', answers: Answers): Promise<void> {
    await lab.untilIdle(vm.name);
    expect([answers, await violationsOf(lab, { vm, status, answers })]).toEqual([answers, []]);
    expect(await lab.remove(vm.name)).toEqual([]);
  }

  test.each(LONG_OPERATIONS)(
    'refuses all other changes, and names the task: $operation of a VM that is $status, at $call',
    async (moment) => {
      const { operation: first, status } = moment;
      const vm = await lab.givenVm({ status, operations: [first] });
      const { answered, end } = await lab.begin(vm, moment);
      const [entry] = await lab.entries(vm.name);
      // A deletion is no task.
      expect([first, entry?.busy?.action]).toEqual([first, first === 'delete' ? undefined : first]);
      for (const second of refusedDuring(first)) {
        const code = first === 'move' && second === 'move' ? 'MOVE_IN_PROGRESS' : 'BUSY';
        await expectRefused(second, vm, code, entry?.busy?.task);
      }
      end();
      await expectEnd(vm, status, [[first, await answered]]);
    },
    TIMEOUT_MS,
  );

  test(
    'refuses all changes while the disk of a stopped VM is exported, and lets it be cloned',
    async () => {
      const vm = await lab.givenVm();
      const exported = await fetch(`${lab.api.url}${requestOn(vm, 'export').path}`);
      expect(exported.status).toBe(200);
      for (const second of refusedDuring('export')) await expectRefused(second, vm, 'BUSY');
      const cloned = await lab.request('clone', vm);
      expect(gunzipSync(Buffer.from(await exported.arrayBuffer()))).toHaveLength(DISK_BYTES);
      await expectEnd(vm, 'Stopped', [['clone', cloned]]);
    },
    TIMEOUT_MS,
  );

  const brief = BRIEF_OPERATIONS.flatMap(([moment, others]) =>
    others.map((second) => ({ first: moment.operation, second, moment })),
  );
  test.each(brief)(
    'carries out the second request after the first: $first, $second',
    async ({ first, second, moment }) => {
      const vm = await lab.givenVm({ status: moment.status, operations: [first, second] });
      const { answered, end } = await lab.begin(vm, moment);
      let early: Reply | undefined;
      const after = lab.request(second, vm).then((reply) => (early = reply));
      for (let request = 0; request < 3; request++) await lab.entries(vm.name);
      expect(early).toBeUndefined();
      end();
      const [one, two] = [await answered, await after];
      // A stopped VM is not restarted.
      const expected = second === 'restart' ? { status: 409, body: { code: 'WRONG_STATE' } } : {};
      expect([first, one, second, two]).toMatchObject([first, { status: 200 }, second, expected]);
      expect(two.body['code']).not.toBe('BUSY');
      await expectEnd(vm, moment.status, [
        [first, one],
        [second, two],
      ]);
    },
    TIMEOUT_MS,
  );

  test.each(['Stopped', 'Running'] as const)(
    'keeps everything that it acknowledges of two requests at the same moment to a VM that is %s',
    async (status) => {
      const orders = PAIRS[status].flatMap(([a, b]) => (a === b ? [[a, b]] : [[a, b], [b, a]])); // prettier-ignore
      const failures: string[] = [];
      const meetInTurn = async (): Promise<void> => {
        for (let order = orders.shift(); order; order = orders.shift()) {
          try {
            const vm = await lab.givenVm({ status, operations: order });
            const answers = await Promise.all(
              order.map(async (operation) => [operation, await lab.request(operation, vm)] as const),
            );
            await expectEnd(vm, status, answers);
          } catch (error) {
            failures.push(`${order.join(', ')}: ${(error as Error).message}`);
          }
        }
      };
      await Promise.all(Array.from({ length: LANES }, meetInTurn));
      expect(failures).toEqual([]);
    },
    TIMEOUT_MS,
  );

  describe('that want one name', () => {
    const prefix = (): string => one.name;
    let one: MeetingVm;
    let two: MeetingVm;
    let target: string;
    beforeAll(async () => {
      one = await lab.givenVm();
      target = `${one.name}-copy`;
      two = await lab.givenVm({ name: `${one.name}-two` });
      await lab.givenVm({ name: `${one.name}-three`, context: 'there' });
    }, TIMEOUT_MS);
    afterAll(async () => {
      expect(await lab.remove(prefix())).toEqual([]);
    }, TIMEOUT_MS);

    const clone = (source: MeetingVm, name = target): OperationRequest => ({
      ...requestOn(source, 'clone'),
      body: { target: name },
    });
    const create = (): OperationRequest => createRequest(target);
    const moveIn = (): OperationRequest => ({
      method: 'POST',
      path: '/api/move',
      body: { ref: `vm/there/local/${prefix()}-three`, toBackend: 'libvirt', toContext: 'here', name: target },
    });
    const contests: readonly (readonly [string, () => OperationRequest[]])[] = [
      ['two clones', () => [clone(one), clone(two)]],
      ['a clone and a creation', () => [clone(one), create()]],
      ['a creation and a clone', () => [create(), clone(one)]],
      ['two creations', () => [create(), create()]],
      ['a clone and a move', () => [clone(one), moveIn()]],
      ['a move, a creation and a clone', () => [moveIn(), create(), clone(two)]],
    ];

    async function expectOneWinner(replies: readonly Reply[]): Promise<void> {
      await lab.untilIdle(prefix());
      const statuses = replies.map(({ status }) => (status < 300 ? 'won' : status)).sort();
      expect([statuses, replies]).toEqual([[...Array<number>(replies.length - 1).fill(409), 'won'], replies]);
      for (const { id, status, error } of await lab.tasks(target))
        expect([id, status, error]).toEqual([id, 'done', '']);
      expect(await lab.entries(target)).toMatchObject([{ context: 'here', status: 'Stopped' }]);
      expect(await lab.remove(target)).toEqual([]);
    }

    test.each(contests)(
      'have one winner at the same moment: %s',
      async (_title, requests) => {
        await expectOneWinner(await Promise.all(requests().map((request) => lab.send(request))));
      },
      TIMEOUT_MS,
    );

    test(
      'are refused while a clone goes on, but another clone of its source is not',
      async () => {
        const { answered, end } = await lab.begin(one, { operation: 'clone', status: 'Stopped', call: 'defineDomain' });
        const replies = await Promise.all([create(), clone(two), moveIn()].map((request) => lab.send(request)));
        const second = lab.send(clone(one, `${prefix()}-second`));
        end();
        expect((await second).status).toBeLessThan(300);
        await expectOneWinner([await answered, ...replies]);
        expect(await lab.entries(`${prefix()}-second`)).toMatchObject([{ status: 'Stopped' }]);
      },
      TIMEOUT_MS,
    );
  });

  // After all others: the tests of a group run before the groups in it.
  describe('in the end', () => {
    test('have left all other VMs as they were', async () => {
      expect(await stateOfOthers()).toEqual(before);
    });
  });
});
