import { DomainError, formatRef, type PortableVm, workOn } from '@headgate/domain-contracts';
import { buildContainer, buildVm, withStatus } from '@headgate/testing';
import type { MoveRequest } from './move-request.js';
import { ListDestinations } from './list-destinations.js';
import { Moving, refOf } from '../testing/moving.js';

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
      minDowntimeSeconds: null,
      maxDowntimeSeconds: null,
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

  test('bounds the downtime widely, until it was measured how long the guest takes to shut down', async () => {
    moving.start();
    const bounds = async () => {
      const { minDowntimeSeconds, estimatedDowntimeSeconds, maxDowntimeSeconds } = await plan();
      return [minDowntimeSeconds, estimatedDowntimeSeconds, maxDowntimeSeconds];
    };
    expect(await bounds()).toEqual([1, 11, 61]);
    moving.lab.engine.portable.set(WEB, { os: 'win11' });
    expect(await bounds()).toEqual([1, 26, 61]);
    moving.shutdownTimes.record('vm/uid-web', 3000);
    expect(await bounds()).toEqual([2, 4, 5]);
  });

  test('changes nothing', async () => {
    moving.start();
    await plan({ deleteSource: true });
    expect(moving.lab.engine.vm(refOf('web')).status).toBe('Running');
    expect(moving.copied()).toBeUndefined();
  });

  test('reports all refusals together, each with a code, a reason, a remedy, a category and a severity', async () => {
    moving.lab.engine.put({ ...moving.lab.engine.vm(refOf('web')), isTemplate: true, protected: true });
    moving.other.engine.put(buildVm({ ref: { context: 'other', name: 'web' } }));
    const { ok, refusals, steps } = await plan({ mode: 'warm', deleteSource: true });
    expect([ok, steps]).toEqual([false, []]);
    expect(refusals.map(({ code }) => code)).toEqual([
      ...['SOURCE_IS_TEMPLATE', 'SOURCE_IS_PROTECTED', 'MODE_NOT_SUPPORTED', 'ALREADY_EXISTS'],
    ]);
    for (const { reason, remedy, category, severity } of refusals) {
      expect(reason).toMatch(/\.$/);
      expect(remedy).toMatch(/\.$/);
      expect(['request', 'source', 'destination', 'storage']).toContain(category);
      expect(severity).toBe('critical');
    }
  });

  describe('with a mode that is not possible', () => {
    beforeEach(async () => {
      moving.lab.engine.put({ ...moving.lab.engine.vm(refOf('web')), isTemplate: true });
      moving.other.engine.put(buildVm({ ref: { context: 'other', name: 'web' } }));
      await moving.lab.require('snapshots').create(refOf('web'), { name: 'one' });
      const nics = [{ name: 'nic0', network: 'br0', mac: '52:54:00:00:00:01', model: 'virtio' }];
      moving.lab.engine.portable.set(WEB, { nics });
    });

    test.each(['warm', 'live'] as const)('reports what refuses the other modes too: %s', async (mode) => {
      const found = await codes({ mode, deleteSource: true });
      expect(found.sort()).toEqual([
        ...['ALREADY_EXISTS', 'INVALID_INPUT', 'MODE_NOT_SUPPORTED', 'SOURCE_HAS_SNAPSHOTS', 'SOURCE_IS_TEMPLATE'],
      ]);
    });

    test('reports a name that is not accepted, and a context that receives nothing', async () => {
      expect(await codes({ mode: 'live', name: 'web-' })).toEqual(
        expect.arrayContaining(['MODE_NOT_SUPPORTED', 'INVALID_NAME']),
      );
      expect(await codes({ mode: 'live', toBackend: 'closed' })).toEqual(
        expect.arrayContaining(['MODE_NOT_SUPPORTED', 'DESTINATION_CANNOT_RECEIVE']),
      );
    });
  });

  test('reports a taken name although the source can not be read', async () => {
    const container = { ref: 'ct/closed/default/shut', toContext: 'other', toNamespace: 'default', name: 'box' };
    moving.other.engine.put(buildContainer({ ref: { context: 'other', name: 'box' } }));
    expect(await codes(container)).toEqual(['CONTAINER_NOT_MOVABLE', 'ALREADY_EXISTS']);
    moving.lab.engine.put(buildVm({ ref: { context: 'other', name: 'web' } }));
    moving.other.engine.put(buildVm({ ref: { context: 'other', name: 'web' } }));
    const described = moving.lab.require('diskSource');
    described.describe = async () => {
      throw new DomainError('BACKEND_TIMEOUT', 'lab did not answer in time.');
    };
    expect(await codes()).toEqual(['BACKEND_TIMEOUT', 'ALREADY_EXISTS']);
  });

  test.each([
    [
      'a container that can not be read',
      { ref: 'ct/closed/default/shut', toContext: 'other' },
      'CONTAINER_NOT_MOVABLE',
    ],
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

  test('asks for no start or stop of a VM that is being deleted', async () => {
    moving.lab.engine.put(withStatus(moving.lab.engine.vm(refOf('web')), 'Terminating'));
    expect((await plan()).refusals).toMatchObject([
      { code: 'BUSY', reason: 'web is being deleted.', remedy: expect.not.stringMatching(/start|stop/i) },
    ]);
  });

  test('refuses a VM that is being moved', async () => {
    moving.reservations.adopt('move-web', workOn('move', WEB), true);
    expect(await codes()).toEqual(['MOVE_IN_PROGRESS']);
    moving.reservations.endTask('move-web');
    expect(await codes()).toEqual([]);
  });

  test('names the tasks that use the VM, and the name that another task takes', async () => {
    const copy = { ...refOf('web'), context: 'other' };
    moving.reservations.adopt('restore-web', workOn('restore', WEB), true);
    moving.reservations.adopt('clone-db', workOn('clone', refOf('db'), copy), true);
    expect(await codes()).toEqual(['BUSY', 'BUSY']);
    const { refusals } = await plan();
    expect(refusals.map(({ category, reason }) => [category, reason])).toEqual([
      ['source', 'web is busy with the restore of a snapshot (task restore-web).'],
      ['destination', 'web is busy with a clone (task clone-db).'],
    ]);
  });

  test('waits for a request that uses the VM', async () => {
    const tagging = await moving.reservations.acquire(workOn('tag', WEB));
    expect(await codes()).toEqual([]);
    tagging.release();
  });

  test('refuses networks that the destination does not have, unless they are mapped', async () => {
    const nics = [{ name: 'nic0', network: 'br0', mac: '52:54:00:00:00:01', model: 'virtio' }];
    moving.lab.engine.portable.set(WEB, { nics });
    expect(await codes()).toEqual(['INVALID_INPUT']);
    const { ok, warnings } = await plan({ mapping: { networks: { br0: 'lan-1' } } });
    expect([ok, warnings]).toEqual([true, [expect.stringContaining('MAC')]]);
  });

  const TPM = {
    what: 'The state of the TPM: keys that it protects, such as those of BitLocker, can not be used in the copy.',
    category: 'tpm',
    severity: 'critical',
  };
  const VARIABLES = { category: 'firmware', severity: 'warning' };
  const AUTOSTART = { what: 'Autostart.', category: 'placement', severity: 'info' };

  /** Each row: the VM, what the destination says about variables, the losses, and whether variables are copied. */
  test.each<[string, Partial<PortableVm>, true | string, object[], boolean]>([
    ['nothing of a VM with a BIOS', { firmware: 'bios' }, 'No.', [], false],
    ['nothing of a firmware that has no variables yet', { firmware: 'uefi' }, 'No.', [], false],
    ['nothing if the variables are copied', { firmware: 'uefi', firmwareVariables: { sizeBytes: 4 } }, true, [], true],
    [
      'the variables that the destination can not store',
      { firmware: 'uefi-secure', firmwareVariables: { sizeBytes: 4 } },
      'It has another build.',
      [
        {
          ...VARIABLES,
          what: 'The variables of the firmware: It has another build. The copy starts from its default boot entry.',
        },
      ],
      false,
    ],
    [
      'the variables that can not be read',
      { firmware: 'uefi', firmwareVariables: { problem: 'They are locked.' } },
      true,
      [
        {
          ...VARIABLES,
          what: 'The variables of the firmware: They are locked. The copy starts from its default boot entry.',
        },
      ],
      false,
    ],
    ['the state of a TPM that keeps one', { tpm: true, hasTpmState: true }, true, [TPM], false],
    ['nothing of a TPM that keeps none', { tpm: true, hasTpmState: false }, true, [], false],
    ['the losses that the destination knows', { autostart: true }, true, [AUTOSTART], false],
  ])('lists %s', async (_title, vm, verdict, losses, isCopied) => {
    moving.lab.engine.portable.set(WEB, vm);
    const ingest = moving.other.require('diskIngest');
    const original = ingest.plan.bind(ingest);
    ingest.plan = async (spec) => ({ ...(await original(spec)), firmwareVariables: verdict });
    const prepared = await moving.planMove.run({ ref: WEB, toBackend: 'memory', acceptLoss: ['tpm'] });
    expect(prepared.plan).toMatchObject({ ok: true, refusals: [], losses });
    expect(prepared.plan.losses).toHaveLength(losses.length);
    expect(prepared.plan.dropped).toEqual(prepared.plan.losses.map(({ what }) => what));
    expect(prepared.copiesFirmwareVariables).toBe(isCopied);
  });

  test('refuses to lose the state of a TPM, unless that is accepted', async () => {
    moving.lab.engine.portable.set(WEB, { tpm: true, hasTpmState: true });
    const refused = await plan();
    expect([refused.ok, refused.losses]).toEqual([false, [TPM]]);
    expect(refused.refusals).toMatchObject([
      { code: 'TPM_STATE_LOST', severity: 'critical', remedy: expect.stringMatching(/recovery keys.*acceptLoss/) },
    ]);
    expect(await codes({ acceptLoss: [] })).toEqual(['TPM_STATE_LOST']);
    expect(await codes({ acceptLoss: ['tpm'] })).toEqual([]);
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
