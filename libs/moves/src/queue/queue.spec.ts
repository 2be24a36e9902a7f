import {
  ADMINISTRATOR,
  formatRef,
  type BulkRequest,
  type Caller,
  type InstanceRef,
  type TaskRunner,
} from '@headgate/domain-contracts';
import { buildVm, MemoryBackend } from '@headgate/testing';
import { StartMove } from '../start-move.js';
import { Throughput } from '../estimates/throughput.js';
import { Moving, refOf } from '../testing/moving.js';
import { PlanQueue } from './plan-queue.js';
import type { QueueRequest } from './queue-request.js';
import { MoveMembers, StartQueue } from './start-queue.js';

const ANN: Caller = { login: 'ann', name: 'Ann', grant: ADMINISTRATOR };
const MIB = 1024 ** 2;
const TO_OTHER = { toBackend: 'memory', toContext: 'other' };
const REQUEST: QueueRequest = { move: TO_OTHER, perHost: 2, skipRefused: false, leavesOutMoved: false };

describe('a queue of moves', () => {
  let moving: Moving;
  let started: { request: BulkRequest; refs: readonly string[] }[];
  let moves: { id: string | undefined; source: string }[];

  beforeEach(() => {
    moving = new Moving();
    [started, moves] = [[], []];
  });

  const given = (name: string, more: object = {}, to: MemoryBackend = moving.lab): InstanceRef => {
    const ref = { ...refOf(name), context: to.context };
    to.engine.put(buildVm({ ref, uid: `uid-${name}`, diskBytes: 8 * MIB, ...more }));
    return ref;
  };
  const planQueue = () => new PlanQueue(moving.planMove, new Throughput());
  const members = () =>
    new MoveMembers(
      new StartMove({
        planMove: moving.planMove,
        task: {
          start: async ({ id, input }) => {
            moves.push({ id, source: input.source });
            return id ?? 'move-1';
          },
        },
        backends: moving.backends,
        reservations: moving.reservations,
        audit: moving.auditor,
      }),
      moving.backends,
    );
  const startQueue = () =>
    new StartQueue(
      planQueue(),
      {
        defineQueue: () => undefined,
        startBulk: async (request: BulkRequest, refs: readonly string[]) => {
          started.push({ request, refs });
          return 'bulk-move-1';
        },
      } as unknown as TaskRunner,
      members(),
    );

  test('has the plans of all members, and their sums', async () => {
    const refs = [refOf('web'), given('db')];
    const plan = await planQueue().run(REQUEST, [...refs, refOf('web')]);
    expect(plan).toMatchObject({ ok: true, refusals: [], estimatedBytes: 16 * MIB, perHost: 2, deleteSource: false });
    expect(plan.members.map(({ source, destination }) => [source, destination])).toEqual([
      ['vm/lab/default/web', 'vm/other/default/web'],
      ['vm/lab/default/db', 'vm/other/default/db'],
    ]);
  });

  test('has the refusals of all members together, each with its ref and a remedy', async () => {
    given('taken', {}, moving.other);
    const refs = [
      given('taken'),
      given('template', { isTemplate: true }),
      { ...refOf('shut'), kind: 'ct' as const, context: 'closed' },
      refOf('none'),
      refOf('web'),
    ];
    const { ok, refusals } = await planQueue().run(REQUEST, refs);
    expect(ok).toBe(false);
    expect(refusals.map(({ ref, code }) => [ref, code])).toEqual([
      ['vm/lab/default/taken', 'ALREADY_EXISTS'],
      ['vm/lab/default/template', 'SOURCE_IS_TEMPLATE'],
      ['ct/closed/default/shut', 'CONTAINER_NOT_MOVABLE'],
      ['vm/lab/default/none', 'INSTANCE_NOT_FOUND'],
    ]);
    for (const { remedy, severity } of refusals) expect([remedy === '', severity]).toEqual([false, 'critical']);
  });

  test('refuses two members that would have the same name, and names both', async () => {
    const twin = given('web', {}, moving.closed);
    const request = { ...REQUEST, move: { ...TO_OTHER, toNamespace: 'default' } };
    const { refusals } = await planQueue().run(request, [refOf('web'), twin]);
    expect(refusals).toMatchObject([
      {
        ref: formatRef(twin),
        code: 'ALREADY_EXISTS',
        reason: 'vm/closed/default/web and vm/lab/default/web would both be web in other.',
      },
    ]);
  });

  test('refuses the members that do not fit together, although each one does', async () => {
    const ingest = moving.other.require('diskIngest');
    const plan = ingest.plan.bind(ingest);
    ingest.plan = async (spec) => ({ ...(await plan(spec)), availableBytes: 20 * MIB });
    const { refusals } = await planQueue().run(REQUEST, [refOf('web'), given('a'), given('b'), given('c')]);
    expect(refusals.map(({ ref, code, category }) => [ref, code, category])).toEqual([
      ['vm/lab/default/b', 'INSUFFICIENT_STORAGE', 'storage'],
      ['vm/lab/default/c', 'INSUFFICIENT_STORAGE', 'storage'],
    ]);
    expect(refusals[0]?.reason).toBe('The members up to this one need 24Mi in other, and 20Mi are left.');
  });

  test('leaves out VMs that are at the destination already, if a query has found them', async () => {
    const refs = [refOf('web'), given('there', {}, moving.other)];
    const strict = await planQueue().run(REQUEST, refs);
    expect(strict.refusals).toMatchObject([{ ref: 'vm/other/default/there', code: 'SAME_PLACE' }]);
    const { ok, members: left, warnings } = await planQueue().run({ ...REQUEST, leavesOutMoved: true }, refs);
    expect([ok, left.map(({ source }) => source)]).toEqual([true, ['vm/lab/default/web']]);
    expect(warnings).toEqual(['1 VM is left out: already at the destination.']);
    const nothing = await planQueue().run({ ...REQUEST, leavesOutMoved: true }, refs.slice(1));
    expect([nothing.ok, nothing.refusals]).toEqual([false, []]);
  });

  test('starts nothing when a member is refused, unless the others shall be moved', async () => {
    const refs = [refOf('web'), refOf('none')];
    await expect(startQueue().run(REQUEST, refs, ANN)).rejects.toMatchObject({
      code: 'MOVE_REFUSED',
      details: { ok: false },
    });
    expect(started).toEqual([]);
    const { task } = await startQueue().run({ ...REQUEST, skipRefused: true }, refs, ANN);
    expect([task, started]).toEqual([
      'bulk-move-1',
      [{ request: { action: 'move', move: TO_OTHER, perHost: 2 }, refs: refs.map(formatRef) }],
    ]);
    await expect(startQueue().run({ ...REQUEST, skipRefused: true }, [refOf('none')], ANN)).rejects.toMatchObject({
      code: 'MOVE_REFUSED',
    });
    expect(started).toHaveLength(1);
  });

  test('uses the hosts of both ends, also when the destination follows from its kind', () => {
    const request: BulkRequest = { action: 'move', move: TO_OTHER };
    expect(members().hostsOf(request, refOf('web'))).toEqual(['lab', 'other']);
    expect(members().hostsOf(request, { ...refOf('web'), context: 'other' })).toEqual(['other']);
    expect(members().hostsOf({ action: 'move', move: { toBackend: 'memory' } }, refOf('web'))).toEqual([
      'lab',
      'other',
    ]);
    // A destination that is not configured any more is refused when the member begins.
    expect(members().hostsOf({ action: 'move', move: { toBackend: 'gone' } }, refOf('web'))).toEqual(['lab']);
  });

  test('checks each member again when its turn comes, and fails it with all reasons and remedies', async () => {
    const request: BulkRequest = { action: 'move', move: { ...TO_OTHER, deleteSource: true } };
    await members().start(request, refOf('web'), { task: 'move-web-9', caller: ANN });
    expect(moves).toEqual([{ id: 'move-web-9', source: 'vm/lab/default/web' }]);
    const late = given('late', { isTemplate: true, protected: true });
    await expect(members().start(request, late, { task: 'move-late-9', caller: ANN })).rejects.toThrow(
      /is a template.*Clone it.*is protected.*remove the protection/,
    );
    expect(moves).toHaveLength(1);
  });
});
