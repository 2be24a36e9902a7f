import { procedures, RpcCallError, RpcConnectionError, type RpcConnection } from '@headgate/libvirt-rpc';
import { RpcLink } from './rpc-link.js';

/** A connection that answers each call as the test says. */
class SimulatedConnection {
  isClosed = false;
  private listener?: (error: RpcConnectionError) => void;

  constructor(private readonly answer: () => Promise<unknown>) {}

  call(): Promise<unknown> {
    return this.isClosed ? Promise.reject(new RpcConnectionError('closed', 'closed')) : this.answer();
  }

  onClose(listener: (error: RpcConnectionError) => void): void {
    this.listener = listener;
  }

  close(): void {
    this.end('closed');
  }

  end(failure: 'closed' | 'unreachable'): void {
    this.isClosed = true;
    this.listener?.(new RpcConnectionError(failure, failure));
  }
}

describe('RpcLink', () => {
  let connections: SimulatedConnection[];
  let answer: () => Promise<unknown>;
  let link: RpcLink;

  beforeEach(() => {
    connections = [];
    answer = () => Promise.resolve({ hostname: 'host-1' });
    link = new RpcLink({
      uri: 'qemu:///system',
      open: () => {
        const connection = new SimulatedConnection(() => answer());
        connections.push(connection);
        return Promise.resolve(connection as unknown as RpcConnection);
      },
    });
  });
  afterEach(() => link.close());

  const hostname = () => link.call(procedures.connectGetHostname, undefined);

  test('opens one connection for all calls', async () => {
    await Promise.all([hostname(), hostname(), hostname()]);
    await hostname();
    expect(connections).toHaveLength(1);
  });

  test('opens a new connection after the first one broke', async () => {
    await hostname();
    connections[0]?.end('unreachable');
    expect(await hostname()).toEqual({ hostname: 'host-1' });
    expect(connections).toHaveLength(2);
  });

  test('leaves a connection on which a call hangs, and closes it when its other calls have ended', async () => {
    let finish: (result: unknown) => void = () => undefined;
    answer = () => new Promise((resolve) => (finish = resolve));
    const slow = hostname();
    await new Promise((resolve) => setImmediate(resolve));
    answer = () => Promise.reject(new RpcCallError('timeout', 'libvirt did not answer.'));
    await expect(hostname()).rejects.toMatchObject({ code: 'BACKEND_TIMEOUT' });
    answer = () => Promise.resolve({ hostname: 'host-1' });
    await hostname();
    expect(connections).toHaveLength(2);
    expect(connections[0]?.isClosed).toBe(false);
    finish({ hostname: 'late' });
    expect(await slow).toEqual({ hostname: 'late' });
    await new Promise((resolve) => setImmediate(resolve));
    expect(connections.map(({ isClosed }) => isClosed)).toEqual([true, false]);
  });

  test('tries again with the next call when it could not connect', async () => {
    let attempts = 0;
    const failing = new RpcLink({
      uri: 'qemu:///system',
      open: () => {
        attempts++;
        return Promise.reject(new RpcConnectionError('unreachable', 'Connection refused'));
      },
    });
    const call = () => failing.call(procedures.connectGetHostname, undefined);
    await expect(Promise.all([call(), call()])).rejects.toMatchObject({ code: 'BACKEND_UNREACHABLE' });
    expect(attempts).toBe(1);
    await expect(call()).rejects.toMatchObject({ code: 'BACKEND_UNREACHABLE' });
    expect(attempts).toBe(2);
  });

  test('opens nothing after it was closed', async () => {
    await hostname();
    await link.close();
    await expect(hostname()).rejects.toMatchObject({ code: 'BACKEND_UNREACHABLE' });
    expect(connections.map(({ isClosed }) => isClosed)).toEqual([true]);
  });
});
