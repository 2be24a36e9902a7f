import { Duplex, PassThrough } from 'node:stream';
import { FixedClock } from '@headgate/testing';
import type { PortClient } from './port-client.js';
import { PORT_DRAIN_MS, PORT_IDLE_MS, relayPort } from './relay-port.js';

/** A client whose wire a test holds up. */
class FakeClient implements PortClient {
  readonly received: Buffer[] = [];
  readonly log: string[] = [];
  buffered = 0;
  isSlow = false;
  isPaused = true;
  private readonly waiting: (() => void)[] = [];
  data: (data: Buffer) => void = () => undefined;
  end: () => void = () => undefined;
  leave: () => void = () => undefined;

  send(data: Buffer, sent: () => void): void {
    this.received.push(data);
    this.buffered += data.length;
    const done = (): void => {
      this.buffered -= data.length;
      sent();
    };
    if (this.isSlow) this.waiting.push(done);
    else done();
  }

  /** Everything so far is on the wire. */
  drain(): void {
    for (const done of this.waiting.splice(0)) done();
  }

  sendEnd = (): void => void this.log.push('end');
  onData = (listener: (data: Buffer) => void): void => void (this.data = listener);
  onEnd = (listener: () => void): void => void (this.end = listener);
  onClose = (listener: () => void): void => void (this.leave = listener);
  pause = (): void => void (this.isPaused = true);
  resume = (): void => void (this.isPaused = false);
  close = (code: number, reason: string): void => void this.log.push(`${code} ${reason}`);
  get text(): string {
    return Buffer.concat(this.received).toString();
  }
}

/** A connection to a guest, with the ends of the guest. */
class FakeConnection extends Duplex {
  readonly toGuest = new PassThrough();
  readonly fromGuest = new PassThrough();
  readonly resets: string[] = [];

  constructor() {
    super();
    this.fromGuest.on('data', (data) => {
      if (!this.push(data)) this.fromGuest.pause();
    });
    this.fromGuest.once('end', () => this.push(null));
  }

  reset(): void {
    this.resets.push('reset');
    this.destroy();
  }

  override _read(): void {
    this.fromGuest.resume();
  }

  override _write(data: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.toGuest.write(data, () => done());
  }

  override _final(done: () => void): void {
    this.toGuest.end();
    done();
  }
}

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('the relay between a client and a port of a guest', () => {
  let clock: FixedClock;
  let client: FakeClient;
  beforeEach(() => {
    clock = new FixedClock();
    client = new FakeClient();
  });

  const start = (passesEnd = true) => {
    const guest = new FakeConnection();
    const { toGuest, fromGuest, resets } = guest;
    relayPort(client, guest, { clock, passesEnd });
    return { guest, toGuest, fromGuest, resets };
  };

  test('copies both ways, and passes each end on its own', async () => {
    const { toGuest, fromGuest, resets } = start();
    client.data(Buffer.from('GET /'));
    client.end();
    await settle();
    expect(toGuest.read()?.toString()).toBe('GET /');
    fromGuest.write('200 OK');
    await settle();
    expect(client.text).toBe('200 OK');
    expect(client.log).toEqual([]);
    toGuest.resume();
    fromGuest.end();
    await settle();
    await settle();
    expect(client.log).toEqual(['end', '1000 The connection has ended.']);
    expect(resets).toEqual([]);
  });

  test('reads no more of the guest than the client receives', async () => {
    const { fromGuest } = start();
    client.isSlow = true;
    const chunk = Buffer.alloc(65_536);
    for (let sent = 0; sent < 64; sent++) fromGuest.write(chunk);
    for (let turn = 0; turn < 20; turn++) await settle();
    const held = client.buffered;
    expect(held).toBeGreaterThan(262_144);
    expect(held).toBeLessThan(262_144 + 2 * 65_536);
    for (let turn = 0; turn < 400 && client.received.length < 64; turn++) {
      client.drain();
      await settle();
    }
    expect(Buffer.concat(client.received)).toHaveLength(64 * 65_536);
  });

  test('reads no more of the client than the guest receives', async () => {
    const { toGuest } = start();
    client.data(Buffer.alloc(1_048_576));
    await settle();
    expect(client.isPaused).toBe(true);
    toGuest.resume();
    for (let turn = 0; turn < 20 && client.isPaused; turn++) await settle();
    expect(client.isPaused).toBe(false);
  });

  test('resets a connection whose client leaves before the end of its input', async () => {
    const { guest, resets } = start();
    client.data(Buffer.from('half of a fi'));
    client.leave();
    await settle();
    expect([resets, guest.destroyed]).toEqual([['reset'], true]);
  });

  test('resets nothing when the client has ended its input', async () => {
    const { guest, resets } = start();
    client.end();
    client.leave();
    await settle();
    expect([resets, guest.destroyed]).toEqual([[], true]);
  });

  test('reports that the guest has reset the connection', async () => {
    const { guest } = start();
    guest.destroy(Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' }));
    await settle();
    expect(client.log).toEqual(['4500 The guest has reset the connection.']);
  });

  test('closes a client that sends bytes after their end', async () => {
    start();
    client.end();
    client.end();
    client.data(Buffer.from('more'));
    expect(client.log).toEqual(['1002 Bytes were sent after their end.']);
  });

  test('closes a connection on which no byte was sent for an hour, and none before', async () => {
    const { fromGuest } = start();
    clock.advance(PORT_IDLE_MS - 1);
    fromGuest.write('a byte');
    await settle();
    clock.advance(PORT_IDLE_MS - 1);
    expect(client.log).toEqual([]);
    clock.advance(1);
    expect(client.log).toEqual(['4508 No byte was sent for an hour.']);
  });

  describe('where the end of the input can not be passed on', () => {
    test('waits for what the guest still sends, and ends the connection when it is silent', async () => {
      const { guest, fromGuest, resets } = start(false);
      client.end();
      clock.advance(PORT_DRAIN_MS - 1);
      fromGuest.write('late answer');
      await settle();
      clock.advance(PORT_DRAIN_MS - 1);
      expect(client.text).toBe('late answer');
      expect(guest.destroyed).toBe(false);
      clock.advance(1);
      await settle();
      expect(client.log).toEqual(['1000 The connection has ended.']);
      expect(resets).toEqual([]);
    });
  });
});
