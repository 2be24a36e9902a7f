import { EventEmitter } from 'node:events';
import { DomainError, SILENT_LOG } from '@headgate/domain-contracts';
import { FixedClock, InventoryRecorder } from '@headgate/testing';
import type { WebSocket } from 'ws';
import type { IncusApi } from '../api/incus-api.js';
import type { InstanceObject } from '../api/incus-objects.js';
import { instanceObject } from '../contracts/instance-object.contract.js';
import type { InstanceFinder } from '../engine/instance-finder.js';
import { LiveInstances } from './live-instances.js';

const WEB = { kind: 'ct', context: 'lab', namespace: 'default', name: 'web' } as const;
/** The longest pause between two attempts to connect. */
const RETRY_LIMIT_MS = 1_000;

class FakeSocket extends EventEmitter {
  static readonly OPEN = 1;
  static readonly CLOSED = 3;
  readonly OPEN = FakeSocket.OPEN;
  readonly CLOSED = FakeSocket.CLOSED;
  readyState: number = FakeSocket.OPEN;

  terminate(): void {
    if (this.readyState === FakeSocket.CLOSED) return;
    this.readyState = FakeSocket.CLOSED;
    this.emit('close');
  }

  says(action: string): void {
    const metadata = { action, source: '/1.0/instances/web' };
    this.emit('message', Buffer.from(JSON.stringify({ type: 'lifecycle', project: 'default', metadata })));
  }
}

/** A server whose answers arrive when the test says. */
class FakeServer {
  readonly clock = new FixedClock(0);
  readonly sockets: FakeSocket[] = [];
  readonly lists: PromiseWithResolvers<readonly InstanceObject[]>[] = [];
  readonly reads: PromiseWithResolvers<InstanceObject | undefined>[] = [];
  attempts = 0;
  isDown = false;
  private readonly waiters = new Set<() => void>();

  readonly live: LiveInstances;

  constructor() {
    const api: Pick<IncusApi, 'context' | 'clock' | 'server' | 'readServer' | 'get' | 'socket'> = {
      context: 'lab',
      clock: this.clock,
      server: async () => ({}) as never,
      readServer: async () => {
        this.attempts++;
        this.changed();
        if (this.isDown) throw new DomainError('BACKEND_UNREACHABLE', 'The server is down.');
        return {} as never;
      },
      get: async () => ({ cpu: { total: 1 }, memory: { total: 1 } }) as never,
      socket: async () => this.note(this.sockets, new FakeSocket()) as unknown as WebSocket,
    };
    const finder: Pick<InstanceFinder, 'scope' | 'all' | 'read'> = {
      scope: {},
      all: () => this.note(this.lists, Promise.withResolvers<readonly InstanceObject[]>()).promise,
      read: () => this.note(this.reads, Promise.withResolvers<InstanceObject | undefined>()).promise,
    };
    this.live = new LiveInstances({
      context: 'lab',
      api: api as IncusApi,
      finder: finder as InstanceFinder,
      log: SILENT_LOG,
    });
  }

  /** Resolves when the condition holds. */
  until(isMet: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      const check = (): void => {
        if (!isMet()) return;
        this.waiters.delete(check);
        resolve();
      };
      this.waiters.add(check);
      check();
    });
  }

  /** Closes the socket, and lets the next attempt to connect begin. */
  async reconnect(recorder: InventoryRecorder): Promise<void> {
    const lost = recorder.calls.length;
    this.sockets.at(-1)?.terminate();
    await recorder.until(() => recorder.calls.length > lost);
    await settled();
    this.clock.advance(RETRY_LIMIT_MS);
  }

  private note<T>(list: T[], one: T): T {
    list.push(one);
    this.changed();
    return one;
  }

  private changed(): void {
    for (const check of this.waiters) check();
  }
}

/** Everything that is due without an answer of the server has happened. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const web = (status: string): InstanceObject => instanceObject({ name: 'web', project: 'default', status });

describe('the live containers of a server', () => {
  let server: FakeServer;
  let recorder: InventoryRecorder;
  let remove: () => Promise<void>;

  beforeEach(async () => {
    server = new FakeServer();
    recorder = new InventoryRecorder();
    remove = server.live.add(recorder);
    await server.until(() => server.lists.length === 1);
  });
  afterEach(async () => {
    for (const list of server.lists) list.resolve([]);
    for (const read of server.reads) read.resolve(undefined);
    await remove();
  });

  test('do not become those of a read that began before the connection was lost', async () => {
    server.lists[0]?.resolve([web('Stopped')]);
    await recorder.whenListed();
    server.sockets[0]?.says('instance-updated');
    await server.until(() => server.reads.length === 1);
    await server.reconnect(recorder);
    await server.until(() => server.lists.length === 2);
    server.lists[1]?.resolve([web('Running')]);
    await recorder.until(() => recorder.stateOf(WEB) === 'Running');
    server.reads[0]?.resolve(web('Stopped'));
    await settled();
    expect(recorder.stateOf(WEB)).toBe('Running');
  });

  test('are those of an event that arrives while they are listed again', async () => {
    server.lists[0]?.resolve([web('Stopped')]);
    await recorder.whenListed();
    server.sockets[0]?.says('instance-updated');
    await server.until(() => server.reads.length === 1);
    await server.reconnect(recorder);
    await server.until(() => server.lists.length === 2);
    server.sockets[1]?.says('instance-started');
    server.lists[1]?.resolve([web('Stopped')]);
    server.reads[0]?.resolve(web('Stopped'));
    await server.until(() => server.reads.length === 2);
    server.reads[1]?.resolve(web('Running'));
    await recorder.until(() => recorder.stateOf(WEB) === 'Running');
  });

  test('are not listed by a connection that was lost meanwhile', async () => {
    await server.reconnect(recorder);
    expect(recorder.calls).toEqual(['lost BACKEND_UNREACHABLE']);
    await server.until(() => server.lists.length === 2);
    server.lists[1]?.resolve([web('Running')]);
    await recorder.whenListed();
    server.lists[0]?.resolve([web('Stopped')]);
    await settled();
    expect([recorder.calls, recorder.stateOf(WEB)]).toEqual([['lost BACKEND_UNREACHABLE', 'listed'], 'Running']);
  });

  test('are listed a second after the return of a server that was away for long', async () => {
    server.lists[0]?.resolve([]);
    await recorder.whenListed();
    server.isDown = true;
    await server.reconnect(recorder);
    for (let failed = 2; failed <= 10; failed++) {
      await server.until(() => server.attempts === failed);
      await settled();
      server.clock.advance(RETRY_LIMIT_MS);
    }
    server.isDown = false;
    await server.until(() => server.attempts === 11);
    await settled();
    server.clock.advance(RETRY_LIMIT_MS);
    await server.until(() => server.lists.length === 2);
  });
});
