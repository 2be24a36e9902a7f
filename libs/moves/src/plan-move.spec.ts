import { DomainError, formatRef } from '@headgate/domain-contracts';
import { buildVm, withStatus } from '@headgate/testing';
import type { MoveRequest } from './move-request.js';
import { ListDestinations } from './list-destinations.js';
import { Moving, refOf } from './testing/moving.js';

describe('the preflight of a move', () => {
  let moving: Moving;
  beforeEach(() => (moving = new Moving()));

  const WEB = formatRef(refOf('web'));
  const plan = async (request: Partial<MoveRequest> = {}) =>
    (await moving.planMove.run({ ref: WEB, toBackend: 'memory', ...request })).plan;
  const codes = async (request: Partial<MoveRequest> = {}) => (await plan(request)).refusals.map(({ code }) => code);

  test('says what would happen, and how much is copied', async () => {
    expect(await plan()).toMatchObject({
      ok: true,
      source: WEB,
      destination: 'vm/other/default/web',
      mode: 'cold',
      refusals: [],
      dropped: [],
      estimatedBytes: 8 * 1024 ** 2,
      estimatedDowntimeSeconds: null,
      format: 'raw',
      deleteSource: false,
    });
    expect((await plan()).steps.map(({ name }) => name)).toEqual([
      ...['receive', 'copy', 'verify', 'commit', 'folder', 'keep'],
    ]);
    expect((await plan({ deleteSource: true })).steps.at(-1)?.name).toBe('delete');
  });

  test('stops a guest that runs, and estimates for how long', async () => {
    moving.start();
    const { steps, estimatedDowntimeSeconds } = await plan();
    expect(steps.map(({ name }) => name)).toContain('stop');
    expect(estimatedDowntimeSeconds).toBeGreaterThan(0);
  });

  test('changes nothing', async () => {
    moving.start();
    await plan({ deleteSource: true });
    expect(moving.lab.engine.vm(refOf('web')).status).toBe('Running');
    expect(moving.copied()).toBeUndefined();
  });

  test('reports all refusals at once, each with a code, a reason, a remedy, a category and a severity', async () => {
    moving.lab.engine.put({ ...moving.lab.engine.vm(refOf('web')), isTemplate: true, protected: true });
    moving.other.engine.put(buildVm({ ref: { context: 'other', name: 'web' } }));
    const { ok, refusals, steps } = await plan({ mode: 'live', deleteSource: true });
    expect([ok, steps]).toEqual([false, []]);
    expect(refusals.map(({ code }) => code)).toEqual([
      ...['MODE_NOT_SUPPORTED', 'SOURCE_IS_TEMPLATE', 'SOURCE_IS_PROTECTED', 'ALREADY_EXISTS'],
    ]);
    for (const { reason, remedy, category, severity } of refusals) {
      expect(reason).toMatch(/\.$/);
      expect(remedy).toMatch(/\.$/);
      expect(['request', 'source', 'destination', 'storage']).toContain(category);
      expect(severity).toBe('critical');
    }
  });

  test.each([
    ['a container', { ref: 'ct/lab/default/box' }, 'CONTAINER_NOT_MOVABLE'],
    ['a ref of nothing', { ref: 'vm/lab/default/none' }, 'INSTANCE_NOT_FOUND'],
    ['a ref in no context', { ref: 'vm/none/default/web', toContext: 'other' }, 'INSTANCE_NOT_FOUND'],
    ['the same place', { toContext: 'lab' }, 'SAME_PLACE'],
    ['the same place under another name', { toContext: 'lab', name: 'web-2' }, 'SAME_PLACE'],
    ['an unknown kind', { toBackend: 'none' }, 'UNKNOWN_BACKEND'],
    ['an unknown context', { toContext: 'none' }, 'CONTEXT_NOT_FOUND'],
    ['a context of another kind', { toContext: 'closed' }, 'CONTEXT_NOT_FOUND'],
    ['a context that receives nothing', { toBackend: 'closed' }, 'DESTINATION_CANNOT_RECEIVE'],
    ['a warm move', { mode: 'warm' }, 'MODE_NOT_SUPPORTED'],
    ['a live move', { mode: 'live' }, 'MODE_NOT_SUPPORTED'],
    ['a name that the destination does not accept', { name: 'web-' }, 'INVALID_NAME'],
  ] as const)('refuses %s', async (_title, request, code) => {
    expect(await codes(request)).toEqual([code]);
  });

  test('refuses to choose between several contexts', async () => {
    expect(await codes({ ref: 'ct/closed/default/none' })).toEqual(['INSTANCE_NOT_FOUND', 'CONTEXT_REQUIRED']);
  });

  test('refuses a disk for which there is no space', async () => {
    moving.lab.engine.put(buildVm({ ref: { name: 'web' }, diskBytes: 2 ** 50 }));
    expect((await plan()).refusals).toMatchObject([{ code: 'INSUFFICIENT_STORAGE', category: 'storage' }]);
  });

  test('refuses a VM with snapshots', async () => {
    await moving.lab.require('snapshots').create(refOf('web'), { name: 'one' });
    expect(await codes()).toEqual(['SOURCE_HAS_SNAPSHOTS']);
  });

  test('refuses a VM that is neither running nor stopped', async () => {
    moving.lab.engine.put(withStatus(moving.lab.engine.vm(refOf('web')), 'Paused'));
    expect(await codes()).toEqual(['WRONG_STATE']);
  });

  test('refuses a VM that is being moved', async () => {
    moving.inProgress.add(WEB, 'running');
    expect(await codes()).toEqual(['MOVE_IN_PROGRESS']);
    moving.inProgress.add(WEB, 'ended');
    expect(await codes()).toEqual([]);
  });

  test('refuses networks that the destination does not have, unless they are mapped', async () => {
    const nics = [{ name: 'nic0', network: 'br0', mac: '52:54:00:00:00:01', model: 'virtio' }];
    moving.lab.engine.portable.set(WEB, { nics });
    expect(await codes()).toEqual(['INVALID_INPUT']);
    const { ok, warnings } = await plan({ mapping: { networks: { br0: 'lan-1' } } });
    expect([ok, warnings]).toEqual([true, [expect.stringContaining('MAC')]]);
  });

  test('lists what the copy will not have', async () => {
    moving.lab.engine.portable.set(WEB, { tpm: true });
    expect((await plan()).dropped).toEqual(['The state of the TPM.']);
  });

  test('reports a destination that does not answer', async () => {
    moving.other.engine.disconnect();
    expect(await codes({ toContext: 'other' })).toEqual(['DESTINATION_CANNOT_RECEIVE']);
  });

  test('rejects text that is no ref', async () => {
    await expect(plan({ ref: 'web' })).rejects.toBeInstanceOf(DomainError);
  });

  test('lists the destinations, with the reason of those that can not receive', async () => {
    moving.other.engine.disconnect();
    expect(await new ListDestinations(moving.backends).run()).toEqual([
      { backend: 'memory', context: 'lab', can: true },
      { backend: 'memory', context: 'other', can: false, reason: expect.stringContaining('does not answer') },
      { backend: 'closed', context: 'closed', can: false, reason: 'Closed contexts receive nothing.' },
    ]);
  });
});
