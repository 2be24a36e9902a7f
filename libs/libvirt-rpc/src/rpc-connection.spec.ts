import { ErrorNumber, LibvirtError, RpcCallError, RpcConnectionError } from './errors.js';
import { domainEvents, subscribeToEvents, type DomainEventMessage } from './events.js';
import { procedures } from './procedures.js';
import { RpcConnection } from './rpc-connection.js';
import { FakeDaemon } from './testing/fake-daemon.js';
import { ManualTimers, settle } from './testing/manual-timers.js';
import { int, string, struct } from './wire/codec.js';
import { KEEPALIVE_PROGRAM, QEMU_PROGRAM, MessageStatus, MessageType } from './wire/message.js';
import { domain, domainOf } from './wire/types.js';

const UUID = '2c749204-8322-4dfd-b324-cb2e556e0e9a';
const { connectGetHostname, domainGetXmlDesc, domainCreateWithFlags, nodeGetInfo } = procedures;

describe('RpcConnection', () => {
  let daemon: FakeDaemon;
  let timers: ManualTimers;
  let connection: RpcConnection;

  beforeEach(() => {
    daemon = new FakeDaemon();
    timers = new ManualTimers();
    connection = new RpcConnection(daemon.transport, timers);
  });
  afterEach(() => connection.close());

  const xmlOf = (uuid: string) => connection.call(domainGetXmlDesc, { domain: domainOf(uuid), flags: 2 });
  const hostname = () => connection.call(connectGetHostname, undefined);

  test.each([Infinity, 1])('calls a procedure and returns its result, received in chunks of %d bytes', async (size) => {
    daemon.chunkBytes = size;
    daemon.answer(domainGetXmlDesc, (args) => ({ xml: `<domain>${args.domain.uuid} ${args.flags}</domain>` }));
    expect(await xmlOf(UUID)).toEqual({ xml: `<domain>${UUID} 2</domain>` });
    expect(timers.pending).toBe(0);
  });

  test('assigns replies by their serial, in whatever order they arrive', async () => {
    const serials: number[] = [];
    daemon.handle(connectGetHostname, (_args, { serial }) => {
      serials.push(serial);
      if (serials.length < 3) return;
      for (const one of [...serials].reverse()) daemon.reply(connectGetHostname, one, { hostname: `host ${one}` });
    });
    const names = await Promise.all([hostname(), hostname(), hostname()]);
    expect(names.map((name) => name.hostname)).toEqual(serials.map((serial) => `host ${serial}`));
    expect(new Set(serials).size).toBe(3);
  });

  test("throws libvirt's error with its code and domain, and stays usable", async () => {
    daemon.answer(domainGetXmlDesc, () => {
      throw new LibvirtError(ErrorNumber.noDomain, 10, 'Domain not found: no domain with matching uuid');
    });
    daemon.answer(connectGetHostname, () => ({ hostname: 'host-1' }));
    const failure = await xmlOf(UUID).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(LibvirtError);
    expect(failure).toMatchObject({ code: 42, domain: 10, message: expect.stringContaining('Domain not found') });
    expect(await hostname()).toEqual({ hostname: 'host-1' });
  });

  test('runs at most four calls at the same time, and only two slow ones, so that libvirtd keeps reading', async () => {
    const start = () => connection.call(domainCreateWithFlags, { domain: domainOf(UUID), flags: 0 }, { isSlow: true });
    const starts = [start(), start(), start()];
    const names = [hostname(), hostname(), hostname()];
    await daemon.until(() => daemon.received.length === 4);
    await settle();
    expect(daemon.calls(domainCreateWithFlags)).toHaveLength(2);
    expect(daemon.calls(connectGetHostname)).toHaveLength(2);
    daemon.answer(connectGetHostname, () => ({ hostname: 'host-1' }));
    for (const { header } of daemon.calls(connectGetHostname)) {
      daemon.reply(connectGetHostname, header.serial, { hostname: 'host-1' });
    }
    expect(await Promise.all(names)).toHaveLength(3);
    expect(daemon.calls(domainCreateWithFlags)).toHaveLength(2);
    daemon.answer(domainCreateWithFlags, ({ domain: started }) => ({ domain: started }));
    for (const { header } of daemon.calls(domainCreateWithFlags)) {
      daemon.reply(domainCreateWithFlags, header.serial, { domain: domainOf(UUID) });
    }
    await Promise.all(starts);
  });

  test('rejects a call that takes too long, ignores its late reply, and keeps its place until then', async () => {
    const late = connection.call(connectGetHostname, undefined, { timeoutMs: 1000 });
    const outcome = expect(late).rejects.toBeInstanceOf(RpcCallError);
    await daemon.until(() => daemon.calls(connectGetHostname).length === 1);
    timers.advance(1000);
    await outcome;
    expect(connection.abandonedCalls).toBe(1);
    daemon.reply(connectGetHostname, daemon.received[0]!.header.serial, { hostname: 'late' });
    daemon.answer(nodeGetInfo, () => ({
      model: 'x86_64',
      memoryKib: 1,
      cpus: 1,
      mhz: 1,
      nodes: 1,
      sockets: 1,
      cores: 1,
      threads: 1,
    }));
    expect(await connection.call(nodeGetInfo, undefined)).toMatchObject({ model: 'x86_64' });
    expect(connection.abandonedCalls).toBe(0);
    expect(timers.pending).toBe(0);
  });

  test('does not send a call that is aborted while it waits', async () => {
    const running = Array.from({ length: 4 }, hostname);
    const abort = new AbortController();
    const waiting = connection.call(nodeGetInfo, undefined, { signal: abort.signal });
    abort.abort();
    await expect(waiting).rejects.toMatchObject({ reason: 'aborted' });
    daemon.answer(connectGetHostname, () => ({ hostname: 'x' }));
    await daemon.until(() => daemon.received.length === 4);
    for (const { header } of daemon.received) daemon.reply(connectGetHostname, header.serial, { hostname: 'x' });
    await Promise.all(running);
    expect(daemon.calls(nodeGetInfo)).toHaveLength(0);
  });

  test('refuses arguments that libvirt would refuse, and stays usable', async () => {
    await expect(xmlOf('no UUID')).rejects.toThrow('UUID');
    daemon.answer(connectGetHostname, () => ({ hostname: 'host-1' }));
    expect(await hostname()).toEqual({ hostname: 'host-1' });
  });

  describe('when the connection ends', () => {
    test('rejects every call, sent and waiting, with the reason, and every later one', async () => {
      const calls = Array.from({ length: 7 }, hostname);
      const outcomes = Promise.allSettled(calls);
      await daemon.until(() => daemon.received.length === 4);
      daemon.hangUp();
      for (const outcome of await outcomes) {
        expect(outcome).toMatchObject({ status: 'rejected', reason: { failure: 'unreachable' } });
      }
      await expect(hostname()).rejects.toMatchObject({ failure: 'unreachable' });
      expect(timers.pending).toBe(0);
    });

    test('rejects a call whose reply was cut off', async () => {
      const call = hostname();
      const outcome = expect(call).rejects.toBeInstanceOf(RpcConnectionError);
      await daemon.until(() => daemon.received.length === 1);
      daemon.write(Buffer.from([0, 0, 0, 60, 0x20, 0, 0x80]));
      daemon.hangUp();
      await outcome;
    });

    test('calls each close listener once with the reason', () => {
      const reasons: string[] = [];
      connection.onClose(({ failure }) => reasons.push(failure));
      connection.close();
      connection.close();
      connection.onClose(({ failure }) => reasons.push(`${failure} earlier`));
      expect(reasons).toEqual(['closed', 'closed earlier']);
    });
  });

  describe('a peer that does not speak the protocol', () => {
    const reply = { procedure: connectGetHostname.number };
    test.each<[string, () => void]>([
      ['a reply to an unknown call', () => daemon.sendRaw({ ...reply, serial: 999 })],
      ['a message of another program', () => daemon.sendRaw({ ...reply, program: 0x20008088, serial: 1 })],
      ['a reply of another program', () => daemon.sendRaw({ ...reply, program: QEMU_PROGRAM, serial: 1 })],
      [
        'an event of another program',
        () => daemon.sendRaw({ ...reply, program: QEMU_PROGRAM, type: MessageType.event }),
      ],
      ['another version of the program', () => daemon.sendRaw({ ...reply, version: 2, serial: 1 })],
      ['a reply of another procedure', () => daemon.sendRaw({ procedure: 1, serial: 1 })],
      ['a call', () => daemon.sendRaw({ ...reply, type: MessageType.call, serial: 1 })],
      ['an unknown type', () => daemon.sendRaw({ ...reply, type: 99, serial: 1 })],
      ['a reply with file descriptors', () => daemon.sendRaw({ ...reply, type: 5, serial: 1 })],
      ['an unknown status', () => daemon.sendRaw({ ...reply, serial: 1, status: MessageStatus.continue })],
      [
        'data of an unknown stream',
        () => daemon.sendRaw({ ...reply, type: MessageType.stream, serial: 77, status: 2 }),
      ],
      ["an error that can't be decoded", () => daemon.sendRaw({ ...reply, serial: 1, status: MessageStatus.error })],
      ['an oversized length', () => daemon.write(Buffer.alloc(8, 0xff))],
      ['an HTTP response', () => daemon.write(Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n'))],
      ['a keepalive message of an unknown version', () => daemon.sendRaw({ program: KEEPALIVE_PROGRAM, version: 9 })],
    ])('ends the connection after %s, and rejects the pending call', async (_title, misbehave) => {
      const call = expect(hostname()).rejects.toMatchObject({ failure: 'protocol' });
      await daemon.until(() => daemon.received.length === 1);
      misbehave();
      await call;
      expect(connection.closed).toMatchObject({ failure: 'protocol' });
    });

    test("rejects a call whose result can't be decoded", async () => {
      daemon.handle(connectGetHostname, (_args, { serial }) =>
        daemon.sendRaw({ ...reply, serial }, Buffer.from([0, 0, 0, 99])),
      );
      await expect(hostname()).rejects.toThrow('truncated');
    });
  });

  describe('keepalive', () => {
    const ping = { program: KEEPALIVE_PROGRAM, type: MessageType.event, procedure: 1 };
    const pings = () => daemon.received.filter(({ header }) => header.program === KEEPALIVE_PROGRAM);

    test("answers the peer's pings, also without being started", async () => {
      daemon.sendRaw(ping);
      await daemon.until(() => pings().length === 1);
      expect(pings()[0]?.header).toMatchObject({ procedure: 2, type: MessageType.event, serial: 0 });
    });

    test('pings a silent peer, and ends the connection when it does not answer', async () => {
      connection.startKeepalive({ intervalMs: 2000, count: 2 });
      const call = expect(hostname()).rejects.toMatchObject({ failure: 'unreachable' });
      timers.advance(4000);
      await settle();
      expect(pings()).toHaveLength(2);
      expect(connection.closed).toBeUndefined();
      timers.advance(2000);
      await call;
      expect(timers.pending).toBe(0);
    });

    test('keeps a connection whose peer answers', async () => {
      connection.startKeepalive({ intervalMs: 2000, count: 2 });
      for (let i = 0; i < 10; i++) {
        timers.advance(2000);
        daemon.sendRaw({ ...ping, procedure: 2 });
        await settle();
      }
      expect(connection.closed).toBeUndefined();
      expect(pings()).toHaveLength(10);
    });
  });

  describe('events', () => {
    const lifecycle = struct({ callbackId: int, domain, event: int, detail: int });
    const started = { callbackId: 4, domain: { name: 'web', uuid: UUID, id: 3 }, event: 2, detail: 0 };
    const accept = (isSupported = true) => {
      let last = 0;
      daemon.answer(procedures.connectSupportsFeature, () => ({ isSupported }));
      daemon.answer(procedures.domainEventRegister, ({ eventId }) => {
        if (eventId === domainEvents['memory-failure'].id) {
          throw new LibvirtError(ErrorNumber.invalidArgument, 20, 'unsupported event ID 25');
        }
        return { callbackId: ++last };
      });
    };

    test('delivers events after libvirt has confirmed every subscription, without those that it does not know', async () => {
      accept();
      const events: DomainEventMessage[] = [];
      await subscribeToEvents(connection, (event) => events.push(event));
      expect(daemon.calls(procedures.domainEventRegister)).toHaveLength(Object.keys(domainEvents).length);
      daemon.chunkBytes = 1;
      daemon.send({ type: MessageType.event, procedure: 318 }, lifecycle, started);
      daemon.send({ type: MessageType.event, procedure: 333 }, struct({ callbackId: int, domain, alias: string }), {
        callbackId: 9,
        domain: started.domain,
        alias: 'net0',
      });
      await settle();
      expect(events).toEqual([
        { name: 'lifecycle', ...started },
        { name: 'device-removed', callbackId: 9, domain: started.domain, alias: 'net0' },
      ]);
    });

    test('delivers an event that arrives before the reply to its subscription', async () => {
      accept();
      const events: string[] = [];
      daemon.handle(procedures.domainEventRegister, (_args, { serial }) => {
        daemon.send({ type: MessageType.event, procedure: 318 }, lifecycle, started);
        daemon.reply(procedures.domainEventRegister, serial, { callbackId: 1 });
      });
      await subscribeToEvents(connection, ({ name }) => events.push(name), ['lifecycle']);
      expect(events).toEqual(['lifecycle']);
    });

    test('ignores events that were not asked for', async () => {
      accept();
      await subscribeToEvents(connection, () => undefined, ['lifecycle']);
      daemon.sendRaw({ type: MessageType.event, procedure: 9999 }, Buffer.from('anything'));
      await settle();
      expect(connection.closed).toBeUndefined();
    });

    test("ends the connection after an event that can't be decoded", async () => {
      accept();
      await subscribeToEvents(connection, () => undefined, ['lifecycle']);
      daemon.sendRaw({ type: MessageType.event, procedure: 318 }, Buffer.from([1, 2, 3]));
      await settle();
      expect(connection.closed).toMatchObject({ failure: 'protocol' });
    });

    test('refuses a daemon without event callbacks', async () => {
      accept(false);
      await expect(subscribeToEvents(connection, () => undefined)).rejects.toMatchObject({ failure: 'unsupported' });
    });
  });
});
