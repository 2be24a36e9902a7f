import { spawnSync } from 'node:child_process';
import { DomainError, SILENT_LOG } from '@headgate/domain-contracts';
import { FixedClock } from '@headgate/testing';
import { EXPIRY_MS, HostLock, MAX_WAIT_MS } from './host-lock.js';
import { formatLockName } from '../storage/lock-name.js';
import { ownProcess, type ServiceProcess } from '../host/service-process.js';

/** A pool whose operations take a turn of the event loop. */
class SharedPool {
  readonly names = new Set<string>();
  failure?: DomainError;
  lists = 0;

  async lockNames(): Promise<string[]> {
    await this.turn();
    this.lists++;
    return [...this.names];
  }

  async addLock(name: string): Promise<void> {
    await this.turn();
    if (this.failure) throw this.failure;
    this.names.add(name);
  }

  async removeLock(name: string): Promise<void> {
    await this.turn();
    this.names.delete(name);
  }

  private turn(): Promise<void> {
    return new Promise((resolve) => setImmediate(resolve));
  }
}

describe('HostLock', () => {
  let clock: FixedClock;
  let pool: SharedPool;

  beforeEach(() => {
    [clock, pool] = [new FixedClock(), new SharedPool()];
  });

  const open = (process?: ServiceProcess): HostLock => new HostLock({ pool, clock, log: SILENT_LOG, process });
  const turns = async (count: number): Promise<void> => {
    for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve));
  };
  /** Lets time pass in steps until the work has ended. */
  const passing = async <T>(work: Promise<T>, stepMs = 50): Promise<T> => {
    let isOver = false;
    void work.catch(() => undefined).finally(() => (isOver = true));
    while (!isOver) {
      await turns(5);
      clock.advance(stepMs);
    }
    return work;
  };

  test('is held by one service at a time, and leaves nothing behind', async () => {
    let [inside, most, done] = [0, 0, 0];
    const work = async (): Promise<void> => {
      most = Math.max(most, ++inside);
      await turns(3);
      inside--;
      done++;
    };
    const services = [open(), open(), open()];
    await passing(Promise.all(services.flatMap((lock) => [1, 2, 3, 4].map(() => lock.run('vm', work)))));
    expect([most, done]).toEqual([1, 12]);
    expect(pool.names.size).toBe(0);
    expect(clock.pending).toBe(0);
  });

  test('keeps different VMs apart', async () => {
    const [a, b] = [open(), open()];
    await a.run('one', () => b.run('two', async () => undefined));
    expect(pool.names.size).toBe(0);
  });

  test('releases after a failure', async () => {
    await expect(open().run('vm', () => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
    await open().run('vm', async () => undefined);
  });

  test('refuses a request when another service holds it for too long, and names its process', async () => {
    const [a, b] = [open(), open()];
    let release = (): void => undefined;
    const holding = a.run('vm', () => new Promise<void>((resolve) => (release = resolve)));
    await turns(20);
    const refused = passing(
      b.run('vm', async () => undefined),
      500,
    ).catch((error: unknown) => error);
    const startedAt = clock.now();
    expect(await refused).toMatchObject({ code: 'BUSY', message: expect.stringContaining(`process ${process.pid}`) });
    expect(clock.now() - startedAt).toBeGreaterThanOrEqual(MAX_WAIT_MS);
    release();
    await holding;
    expect(pool.names.size).toBe(0);
  });

  test('is taken immediately from a process of this machine that has ended', async () => {
    const own = ownProcess();
    const { pid } = spawnSync('true');
    const ended = { ...own, pid };
    const reused = { ...own, start: own.start + 1 };
    for (const owner of [ended, reused])
      pool.names.add(formatLockName({ key: '0'.repeat(16), ticket: '1'.repeat(12), process: owner, renewal: 3 }));
    const startedAt = clock.now();
    await open().run('vm', async () => undefined);
    expect(clock.now()).toBe(startedAt);
    expect(pool.names.size).toBe(0);
  });

  test('is taken immediately from a backend of this process that could not release it', async () => {
    const lock = open();
    pool.removeLock = () => Promise.reject(new DomainError('BACKEND_UNREACHABLE', 'The service was killed.'));
    await lock.run('vm', async () => undefined);
    expect(pool.names.size).toBe(1);
    pool.removeLock = async (name) => void pool.names.delete(name);
    const startedAt = clock.now();
    await open().run('vm', async () => undefined);
    expect(clock.now()).toBe(startedAt);
    expect(pool.names.size).toBe(0);
  });

  test('is taken from a service of another machine that shows no sign of life', async () => {
    const away = { machine: 'f'.repeat(12), pid: 1, start: 1 };
    const gone = open(away);
    void gone.run('vm', () => new Promise<void>(() => undefined));
    await turns(20);
    const [name] = pool.names;
    const others = new SharedPool();
    others.names.add(name ?? '');
    // Only the copy is seen, which nothing renews.
    const lock = new HostLock({ pool: others, clock, log: SILENT_LOG });
    const startedAt = clock.now();
    const attempt = (): Promise<string> =>
      passing(
        lock.run('vm', async () => 'held'),
        500,
      ).catch((error: unknown) => (error as DomainError).code);
    expect(await attempt()).toBe('held');
    expect(clock.now() - startedAt).toBeGreaterThanOrEqual(EXPIRY_MS);
  });

  test('is not taken from a service that works for long', async () => {
    const [a, b] = [open({ machine: 'f'.repeat(12), pid: 1, start: 1 }), open()];
    let release = (): void => undefined;
    const holding = a.run('vm', () => new Promise<void>((resolve) => (release = resolve)));
    await turns(20);
    for (let attempt = 1; attempt <= 4; attempt++)
      await expect(
        passing(
          b.run('vm', async () => undefined),
          500,
        ),
      ).rejects.toMatchObject({ code: 'BUSY' });
    a.expectHeld('vm');
    release();
    await holding;
    await b.run('vm', async () => undefined);
  });

  test('stops the writes of a holder that was suspended', async () => {
    const lock = open();
    await lock.run('vm', async () => {
      lock.expectHeld('vm');
      clock.advance(EXPIRY_MS);
      expect(() => lock.expectHeld('vm')).toThrow(/did not respond for too long/);
      await turns(20);
      expect(() => lock.expectHeld('vm')).toThrow(DomainError);
    });
    await turns(20);
    expect(pool.names.size).toBe(0);
  });

  test('lets the changes of this service continue when the pool has no room for it', async () => {
    pool.failure = new DomainError('INSUFFICIENT_STORAGE', 'The disk of this machine is full.');
    expect(await open().run('vm', async () => 'deleted')).toBe('deleted');
    pool.failure = new DomainError('BACKEND_UNREACHABLE', 'libvirt is not responding.');
    await expect(open().run('vm', async () => 'deleted')).rejects.toMatchObject({ code: 'BACKEND_UNREACHABLE' });
  });
});
