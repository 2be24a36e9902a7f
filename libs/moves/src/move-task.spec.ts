import { DomainError, formatRef } from '@headgate/domain-contracts';
import type { MoveInput } from './move-task.js';
import { Moving, refOf } from './testing/moving.js';
import { Killed, TaskRun, type KillPoint } from './testing/task-run.js';

const WEB = formatRef(refOf('web'));
const COPY = 'vm/other/default/web';
const STEPS = ['reserve', 'stop', 'copy', 'verify', 'commit', 'folder', 'delete'] as const;
const KILLS = STEPS.flatMap((step): KillPoint[] => [
  { step, when: 'before' },
  { step, when: 'after' },
]);

describe('a move', () => {
  let moving: Moving;
  beforeEach(() => (moving = new Moving()));

  const begin = (input: Partial<MoveInput> = {}): TaskRun<MoveInput> => {
    const wasRunning = moving.lab.engine.vm(refOf('web')).status === 'Running';
    return new TaskRun(moving.task, {
      id: '0b3a2d0e-0000-4000-8000-000000000001',
      source: WEB,
      destination: COPY,
      uid: 'uid-web',
      wasRunning,
      deleteSource: false,
      mapping: { networks: {}, storageClasses: {} },
      ...input,
    });
  };
  const source = () => (moving.lab.engine.has(refOf('web')) ? moving.lab.engine.vm(refOf('web')).status : 'deleted');
  const expectComplete = (): void => {
    const { status, disk = Buffer.alloc(0) } = moving.copied() ?? { status: 'none' };
    expect(status).toBe('Stopped');
    expect(disk.equals(moving.disk.subarray(0, disk.length))).toBe(true);
    expect(moving.disk.subarray(disk.length).every((byte) => byte === 0)).toBe(true);
  };
  const expectUndone = (status: string): void => {
    expect([moving.copied(), source()]).toEqual([undefined, status]);
  };

  test('copies a stopped VM, and keeps the source', async () => {
    const run = begin();
    const result = await run.run();
    expectComplete();
    expect(source()).toBe('Stopped');
    // Two runs of 64 KiB at the beginning and three or four around the data.
    expect(result).toMatchObject({ destination: COPY, writtenBytes: 64 * 1024 + 4 * 64 * 1024 });
    expect(result).not.toHaveProperty('downtimeSeconds');
  });

  test('stops a VM that runs, leaves both ends stopped, and reports the downtime', async () => {
    moving.start();
    expect(await begin().run()).toMatchObject({ downtimeSeconds: 0 });
    expectComplete();
    expect(source()).toBe('Stopped');
  });

  test('takes tags, size, firmware, network cards and cloud-init data along', async () => {
    const portable = {
      firmware: 'uefi-secure',
      autostart: true,
      cloudInit: '#cloud-config\n',
      nics: [{ name: 'nic0', network: 'br0', mac: '52:54:00:00:00:01', model: 'e1000e' }],
    } as const;
    moving.lab.engine.portable.set(WEB, portable);
    await begin({ mapping: { networks: { br0: 'lan-2' }, storageClasses: {} } }).run();
    const target = { ...refOf('web'), context: 'other' };
    expect(moving.other.engine.vm(target)).toMatchObject({ tags: ['prod'], cpu: 2, memoryBytes: 4 * 1024 ** 3 });
    expect(moving.other.engine.portable.get(COPY)).toMatchObject({
      ...portable,
      nics: [{ ...portable.nics[0], network: 'lan-2' }],
    });
  });

  test('puts the copy into the folder of the source', async () => {
    moving.folders.folders.set(WEB, 'prod/web');
    await begin().run();
    expect([...moving.folders.folders]).toEqual([
      [WEB, 'prod/web'],
      [COPY, 'prod/web'],
    ]);
  });

  test('deletes the source at the end if that was asked for, and its place in the folder', async () => {
    moving.folders.folders.set(WEB, 'prod/web');
    await begin({ deleteSource: true }).run();
    expectComplete();
    expect(source()).toBe('deleted');
    expect([...moving.folders.folders.keys()]).toEqual([COPY]);
    expect(moving.audit.entries).toMatchObject([
      { action: 'delete after move', ref: WEB, caller: 'ann', outcome: 'ok' },
    ]);
  });

  test.each([false, true])(
    'undoes everything when a step fails, and starts the source again: %s',
    async (isRunning) => {
      for (const method of ['begin', 'write', 'hashes', 'commit'] as const) {
        moving = new Moving();
        if (isRunning) moving.start();
        const ingest = moving.other.require('diskIngest');
        const failure = new DomainError('BACKEND_FAILED', `${method} fails.`);
        ingest[method] = (() => {
          throw failure;
        }) as never;
        await expect(begin({ deleteSource: true }).run()).rejects.toThrow(`${method} fails.`);
        expectUndone(isRunning ? 'Running' : 'Stopped');
      }
    },
  );

  test('undoes everything when the copy differs from the source', async () => {
    moving.start();
    const ingest = moving.other.require('diskIngest');
    const write = ingest.write.bind(ingest);
    ingest.write = async (...args) => {
      const writer = await write(...args);
      return { ...writer, write: (offset, data) => writer.write(offset, Buffer.alloc(data.length, 'x')) };
    };
    await expect(begin({ deleteSource: true }).run()).rejects.toThrow('differs from the source in the block 0');
    expectUndone('Running');
  });

  test('undoes everything when the source changes between copy and comparison', async () => {
    const ingest = moving.other.require('diskIngest');
    const hashes = ingest.hashes.bind(ingest);
    ingest.hashes = (...args) => {
      moving.lab.engine.disks.set(`${WEB} vda`, Buffer.alloc(1024, 'changed'));
      return hashes(...args);
    };
    await expect(begin({ deleteSource: true }).run()).rejects.toThrow('differs');
    expectUndone('Stopped');
  });

  test.each(['copy', 'verify'])('undoes everything when it is canceled during %s', async (step) => {
    moving.start();
    const run = begin({ deleteSource: true });
    const ingest = moving.other.require('diskIngest');
    const method = step === 'copy' ? 'write' : 'hashes';
    const original = ingest[method].bind(ingest) as (...args: unknown[]) => unknown;
    ingest[method] = ((...args: unknown[]) => {
      run.abort.abort(new Error('Canceled by ann.'));
      return original(...args);
    }) as never;
    await expect(run.run()).rejects.toBeDefined();
    expectUndone('Running');
  });

  test('never touches another VM that has the name of the source meanwhile', async () => {
    await expect(begin({ uid: 'another', deleteSource: true }).run()).rejects.toMatchObject({
      code: 'INSTANCE_NOT_FOUND',
    });
    expectUndone('Stopped');
  });

  test('keeps the source when it was started before it could be deleted', async () => {
    const run = begin({ deleteSource: true });
    moving.folders.assign = async () => moving.start();
    moving.folders.folders.set(WEB, 'prod');
    await expect(run.run()).rejects.toThrow('The copy is complete, but the source is kept');
    expect([moving.copied()?.status, source()]).toEqual(['Stopped', 'Running']);
  });

  test('leaves a VM that has the name of the copy alone', async () => {
    const taken = { ...moving.lab.engine.vm(refOf('web')), uid: 'theirs', ref: { ...refOf('web'), context: 'other' } };
    moving.other.engine.put(taken);
    await expect(begin().run()).rejects.toMatchObject({ code: 'ALREADY_EXISTS' });
    expect(moving.other.engine.vm(taken.ref)).toEqual(taken);
  });

  test('that is killed between two steps continues with the next one', async () => {
    for (const step of STEPS) {
      moving = new Moving();
      moving.start();
      const run = begin({ deleteSource: true });
      await expect(run.run({ step, when: 'finished' })).rejects.toBeInstanceOf(Killed);
      await run.restart();
      expectComplete();
      expect(source()).toBe('deleted');
    }
  });

  test('waits for a destination that is away after a restart', async () => {
    const run = begin();
    await expect(run.run({ step: 'copy', when: 'before' })).rejects.toBeInstanceOf(Killed);
    moving.other.engine.disconnect();
    const restarted = run.restart();
    for (let turn = 0; turn < 20; turn++) await Promise.resolve();
    expect(run.log.at(-1)).toMatch(/does not answer. Trying again/);
    moving.other.engine.reconnect();
    moving.clock.advance(10_000);
    await restarted;
    expectComplete();
  });

  describe.each(KILLS)('that is killed $when its work in the step $step', (kill) => {
    test('is completed after the restart, and says so', async () => {
      moving.start();
      moving.folders.folders.set(WEB, 'prod');
      const run = begin({ deleteSource: true });
      await expect(run.run(kill)).rejects.toBeInstanceOf(Killed);
      await run.restart();
      expectComplete();
      expect(source()).toBe('deleted');
      expect(moving.folders.folderOf(COPY)).toBe('prod');
      expect(run.log).toContainEqual(expect.stringContaining(`restarted at the step ${kill.step}`));
    });

    test('deletes no source that has changed meanwhile', async () => {
      moving.start();
      const run = begin({ deleteSource: true });
      await expect(run.run(kill)).rejects.toBeInstanceOf(Killed);
      if (source() === 'deleted') return;
      moving.start();
      moving.lab.engine.disks.set(`${WEB} vda`, Buffer.alloc(1024, 'changed'));
      await run.restart().catch(() => undefined);
      // The source is deleted only if the copy has its latest content.
      const { disk = Buffer.alloc(0) } = moving.copied() ?? {};
      expect(source() !== 'deleted' || disk.includes('changed')).toBe(true);
      if (kill.step !== 'reserve' && kill.step !== 'stop') expect(source()).toBe('Running');
    });
  });
});
