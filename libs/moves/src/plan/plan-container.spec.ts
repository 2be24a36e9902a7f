import { refusal } from '@headgate/domain-contracts';
import { buildContainer, withPhase } from '@headgate/testing';
import { Moving } from '../testing/moving.js';
import { ListDestinations } from './list-destinations.js';
import type { MoveRequest } from './move-request.js';

const BOX = 'ct/lab/default/box';

describe('the preflight of the move of a container', () => {
  let moving: Moving;
  beforeEach(() => (moving = new Moving()));

  const prepare = (request: Partial<MoveRequest> = {}) =>
    moving.planMove.run({ ref: BOX, toBackend: 'memory', ...request });
  const codes = async (request: Partial<MoveRequest> = {}) =>
    (await prepare(request)).plan.refusals.map(({ code }) => code);
  const box = () => moving.lab.engine.container({ kind: 'ct', context: 'lab', namespace: 'default', name: 'box' });

  test('has the steps for a running one, which is started at the destination', async () => {
    const { plan, source } = await prepare({ deleteSource: true });
    expect(plan).toMatchObject({
      ok: true,
      source: BOX,
      destination: 'ct/other/default/box',
      mode: 'cold',
      losses: [],
    });
    const steps = ['stop', 'copy', 'create', 'verify', 'commit', 'folder', 'start', 'delete'];
    expect(plan.steps.map(({ name }) => name)).toEqual(steps);
    expect(plan.estimatedDowntimeSeconds).toBeGreaterThan(0);
    expect(plan.estimatedBytes).toBeGreaterThan(0);
    expect(plan.warnings).toEqual([expect.stringContaining('MAC addresses')]);
    expect(source).toEqual({ ref: box().ref, uid: 'uid-2', isRunning: true });
  });

  test('has the steps for a stopped one that is kept', async () => {
    moving.lab.engine.put(withPhase(box(), 'Stopped'));
    const { plan } = await prepare({ name: 'other' });
    expect(plan.steps.map(({ name }) => name)).toEqual(['copy', 'create', 'verify', 'commit', 'folder', 'keep']);
    expect(plan.steps.find(({ name }) => name === 'commit')?.detail).toBe('Complete other in other, stopped.');
    expect(plan.estimatedDowntimeSeconds).toBeNull();
  });

  test.each([
    ['a mode in which it would run', { mode: 'warm' }, ['MODE_NOT_SUPPORTED']],
    ['a context that receives none', { toBackend: 'closed' }, ['DESTINATION_CANNOT_RECEIVE']],
    ['the same place', { toContext: 'lab' }, ['SAME_PLACE']],
    ['a name that no container can have', { name: 'box-' }, ['INVALID_NAME']],
    ['one that does not exist', { ref: 'ct/lab/default/none' }, ['INSTANCE_NOT_FOUND']],
  ] as const)('refuses %s', async (_title, request, expected) => {
    expect(await codes(request)).toEqual(expected);
  });

  test('refuses a name that is taken, once', async () => {
    moving.other.engine.put(buildContainer({ ref: { context: 'other' } }));
    expect(await codes()).toEqual(['ALREADY_EXISTS']);
  });

  test('refuses one that neither runs nor is stopped', async () => {
    moving.lab.engine.put({ ...box(), phase: 'Failed' });
    expect(await codes()).toEqual(['WRONG_STATE']);
  });

  test('refuses to move away one that may not be deleted', async () => {
    const reason = 'box is protected.';
    moving.lab.require('containers').planDelete = async () => ({
      steps: [],
      warnings: [],
      refusals: [refusal('WRONG_STATE', reason, 'Unset it.')],
    });
    expect((await prepare({ deleteSource: true })).plan.refusals).toMatchObject([
      { code: 'SOURCE_IS_PROTECTED', reason, category: 'source' },
    ]);
    expect(await codes()).toEqual([]);
  });

  test('refuses one that does not fit, in the category of storage', async () => {
    moving.other.engine.freeBytes = 1;
    const { plan, availableBytes } = await prepare();
    expect(plan.refusals).toMatchObject([{ code: 'INSUFFICIENT_STORAGE', category: 'storage' }]);
    expect(availableBytes).toBe(1);
  });

  test('reports contexts that do not answer', async () => {
    moving.other.engine.disconnect();
    expect(await codes()).toEqual(['DESTINATION_CANNOT_RECEIVE']);
    moving.other.engine.reconnect();
    moving.lab.engine.disconnect();
    expect(await codes()).toEqual(['BACKEND_UNREACHABLE']);
  });

  test('knows the contexts that receive containers', async () => {
    const found = await new ListDestinations(moving.backends).run('ct');
    expect(found).toEqual([
      { backend: 'memory', context: 'lab', can: true },
      { backend: 'memory', context: 'other', can: true },
      { backend: 'closed', context: 'closed', can: false, reason: 'Closed contexts keep their containers.' },
    ]);
  });
});
