import 'reflect-metadata';
import type { BackgroundWork, InstanceRef, OperationKey, TaskReporter } from '@headgate/domain-contracts';
import { buildVm, MemoryBackend, withStatus } from '@headgate/testing';
import { Edge } from '../testing/edge.js';

const vms = '/api/vms/default';

/** Work that goes on until a test ends it, or until its task is canceled. */
class HeldWork {
  readonly end = Promise.withResolvers<void>();
  readonly begun = Promise.withResolvers<TaskReporter>();
  readonly keys: (OperationKey | undefined)[] = [];
  readonly discarded: string[] = [];

  get work(): BackgroundWork {
    return async (report) => {
      this.begun.resolve(report);
      const aborted = new Promise<never>((_resolve, reject) =>
        report.signal.addEventListener('abort', () => reject(report.signal.reason as Error)),
      );
      await Promise.race([this.end.promise, aborted]);
    };
  }
}

describe.each([
  ['restore', '/web/snapshots/one/restore', undefined, 'snapshots', 'restore'],
  ['clone', '/web/clone', { target: 'copy' }, 'cloning', 'clone'],
] as const)('the task of a %s', (kind, path, body, ability, method) => {
  let edge: Edge;
  let held: HeldWork;

  beforeEach(async () => {
    const lab = new MemoryBackend('lab');
    held = new HeldWork();
    Object.assign(lab.require(ability), {
      [method]: async (_ref: InstanceRef, _other: unknown, key?: OperationKey) => {
        held.keys.push(key);
        return method === 'restore' ? held.work : { remaining: held.work };
      },
      discard: async () => void held.discarded.push(kind),
    });
    lab.engine.put(withStatus(buildVm({ ref: { context: 'lab', name: 'web' } }), 'Stopped'));
    edge = await new Edge(lab).open();
    await edge.send('POST', `${vms}/web/snapshots`, { name: 'one' });
  });

  afterEach(() => edge.close());

  const begin = async (): Promise<string> => {
    const { status, json } = await edge.send('POST', vms + path, body);
    expect(status).toBe(200);
    return json['task'] as string;
  };
  const cancel = (task: string) => edge.send('DELETE', `/api/tasks/${task}`);
  const ended = async (task: string) => {
    for (;;) {
      const { json } = await edge.send('GET', `/api/tasks/${task}`);
      if (json['status'] !== 'running') return json;
      await new Promise((resolve) => setImmediate(resolve));
    }
  };

  test('is known to the backend by its ID', async () => {
    const task = await begin();
    await held.begun.promise;
    held.end.resolve();
    expect(await ended(task)).toMatchObject({ id: task, kind, status: 'done', error: '' });
    expect(held.keys).toEqual([{ id: task, wasRunning: false }]);
    expect(held.discarded).toEqual([]);
  });

  test('names what it waits for, and releases the VM when it is canceled', async () => {
    const task = await begin();
    const report = await held.begun.promise;
    report.waitsFor?.('the disks of web');
    expect((await edge.send('GET', `/api/tasks/${task}`)).json).toMatchObject({
      waitsFor: 'the disks of web',
      cancelable: true,
    });
    expect((await edge.send('POST', `${vms}/web/start`)).json.code).toBe('BUSY');
    expect((await cancel(task)).json).toEqual({ status: 'canceling' });
    expect(await ended(task)).toMatchObject({ status: 'error', error: expect.stringMatching(/^Canceled by/) });
    expect(held.discarded).toEqual([kind]);
    expect((await edge.send('POST', `${vms}/web/start`)).status).toBe(200);
  });

  test('refuses a cancellation with the reason once it can not be undone, and is done', async () => {
    const task = await begin();
    const report = await held.begun.promise;
    await report.commit?.('The disks are replaced.');
    const { status, json } = await cancel(task);
    expect([status, json.code, json.error]).toEqual([
      409,
      'WRONG_STATE',
      `The task ${task} can no longer be canceled: The disks are replaced.`,
    ]);
    held.end.resolve();
    expect(await ended(task)).toMatchObject({ status: 'done' });
  });

  test('continues after a restart with the same ID, and reserves the VM meanwhile', async () => {
    const task = await begin();
    await held.begun.promise;
    await edge.reopen();
    const found = (await edge.send('GET', `/api/tasks/${task}`)).json;
    expect(found['status']).toBe('running');
    expect((await edge.send('POST', `${vms}/web/start`)).json).toMatchObject({ code: 'BUSY', details: { task } });
    held.end.resolve();
    expect(await ended(task)).toMatchObject({ status: 'done', error: '' });
    expect(new Set(held.keys.map((key) => key?.id))).toEqual(new Set([task]));
    expect((await edge.send('POST', `${vms}/web/start`)).status).toBe(200);
  });
});
