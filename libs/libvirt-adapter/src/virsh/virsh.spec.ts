import { StoragePool } from '../storage/storage-pool.js';
import type { ProgramResult, RunProgram } from '../programs/run-program.js';
import { VirshConnection } from './virsh-connection.js';
import { Virsh } from './virsh.js';

const DONE: ProgramResult = { code: 0, stdout: 'done', stderr: '' };

describe('Virsh', () => {
  test('stops waiting for a slot when the operation is canceled', async () => {
    let started = 0;
    const run: RunProgram = () => new Promise(() => started++);
    const virsh = new Virsh({ uri: 'qemu:///system', run, maxConcurrent: 1 });
    void virsh.run(['list']);
    const cancel = new AbortController();
    const waiting = expect(virsh.run(['start', 'web'], { signal: cancel.signal })).rejects.toMatchObject({
      code: 'CONFLICT',
    });
    cancel.abort();
    await waiting;
    expect(started).toBe(1);
  });

  test('runs commands while many uploads are in progress, and limits the uploads', async () => {
    let running = 0;
    const finish: (() => void)[] = [];
    const run: RunProgram = (_program, args) => {
      if (!args.includes('vol-upload')) return Promise.resolve(DONE);
      running++;
      return new Promise((resolve) => finish.push(() => resolve(DONE)));
    };
    const connection = new VirshConnection({ uri: 'qemu:///system', run, maxConcurrent: 2 });
    const pool = new StoragePool(connection, 'headgate', '/images/headgate');
    const uploads = Array.from({ length: 8 }, (_, i) => pool.createFrom(`disk-${i}`, `/tmp/disk-${i}`));
    const until = async (isMet: () => boolean): Promise<void> => {
      while (!isMet()) await new Promise((resolve) => setImmediate(resolve));
    };
    await until(() => running === 2);
    await expect(connection.domains.suspend('web')).resolves.toBeUndefined();
    expect(running).toBe(2);
    for (let i = 0; i < 8; i++) {
      await until(() => finish[i] !== undefined);
      finish[i]?.();
    }
    await Promise.all(uploads);
    expect(running).toBe(8);
  });
});
