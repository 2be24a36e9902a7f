import { LibvirtError, RpcCallError, RpcConnectionError, XdrError } from './errors.js';
import { subscribeToEvents } from './events.js';
import { procedures, type Procedure } from './procedures.js';
import { RpcConnection } from './rpc-connection.js';
import { FakeDaemon } from './testing/fake-daemon.js';
import { ManualTimers, settle } from './testing/manual-timers.js';
import { encodeMessage, MessageStatus, MessageType, PROGRAM_VERSION, REMOTE_PROGRAM } from './wire/message.js';
import { XdrReader } from './wire/xdr-reader.js';
import { XdrWriter } from './wire/xdr-writer.js';

const ROUNDS = 3000;

/** Repeatable random numbers (mulberry32). */
function randomFrom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

const DOMAIN = { name: 'web', uuid: '2c749204-8322-4dfd-b324-cb2e556e0e9a', id: 1 };

function samples(): [Procedure<never, unknown>, Buffer][] {
  const encode = <A, R>(procedure: Procedure<A, R>, result: R): [Procedure<never, unknown>, Buffer] => {
    const writer = new XdrWriter();
    procedure.result.write(writer, result);
    return [procedure as unknown as Procedure<never, unknown>, Buffer.from(writer.toBuffer())];
  };
  return [
    encode(procedures.connectListAllDomains, { domains: [DOMAIN, DOMAIN], count: 2 }),
    encode(procedures.connectGetAllDomainStats, {
      records: [
        {
          domain: DOMAIN,
          stats: new Map<string, number | string>([
            ['state.state', 1],
            ['block.0.name', 'vda'],
          ]),
        },
      ],
    }),
    encode(procedures.domainInterfaceAddresses, {
      interfaces: [{ name: 'eth0', hardwareAddress: null, addresses: [{ type: 0, address: '10.0.0.1', prefix: 24 }] }],
    }),
    encode(procedures.storagePoolListAllVolumes, { volumes: [{ pool: 'p', name: 'v', key: '/p/v' }], count: 1 }),
    encode(procedures.domainGetXmlDesc, { xml: '<domain/>' }),
    encode(procedures.authList, [0, 2]),
  ];
}

function mutate(bytes: Buffer, random: (below: number) => number): Buffer {
  const copy = Buffer.from(bytes);
  for (let i = random(4) + 1; i > 0; i--) {
    const at = random(Math.max(copy.length, 1));
    const kind = random(4);
    if (kind === 0) copy[at] = random(256);
    else if (kind === 1) copy.fill(0xff, at, Math.min(at + 4, copy.length));
    else if (kind === 2) copy.fill(0, at, Math.min(at + 4, copy.length));
    else return copy.subarray(0, at);
  }
  return copy;
}

describe('malformed bytes', () => {
  test('in a result are refused with an XdrError, or decode to something of bounded size', () => {
    const random = randomFrom(1);
    const all = samples();
    let refused = 0;
    for (let i = 0; i < ROUNDS; i++) {
      const [procedure, bytes] = all[random(all.length)]!;
      try {
        procedure.result.read(new XdrReader(mutate(bytes, random)));
      } catch (error) {
        if (!(error instanceof XdrError)) throw error;
        refused++;
      }
    }
    expect(refused).toBeGreaterThan(ROUNDS / 10);
    expect(refused).toBeLessThan(ROUNDS);
  });

  test('on a connection end it or reject calls with a typed error: nothing hangs, nothing else is thrown', async () => {
    const random = randomFrom(2);
    const failures = new Map<string, number>();
    for (let i = 0; i < ROUNDS / 10; i++) {
      const daemon = new FakeDaemon();
      daemon.chunkBytes = [1, 7, Infinity][random(3)]!;
      const connection = new RpcConnection(daemon.transport, new ManualTimers());
      daemon.answer(procedures.connectSupportsFeature, () => ({ isSupported: true }));
      daemon.answer(procedures.domainEventRegister, () => ({ callbackId: 1 }));
      await subscribeToEvents(connection, () => undefined, ['lifecycle', 'metadata-change']);
      const calls = Promise.allSettled([
        connection.call(procedures.domainGetXmlDesc, { domain: DOMAIN, flags: 0 }),
        connection.call(procedures.connectListAllDomains, { needResults: true, flags: 0 }),
        connection
          .openStream(
            procedures.domainOpenConsole,
            { domain: DOMAIN, device: null, flags: 0 },
            {
              readable: true,
              writable: true,
            },
          )
          .then((stream) => void stream.on('error', () => undefined).resume()),
      ]);
      await daemon.until(() => daemon.received.length >= 6);
      for (let messages = random(6) + 1; messages > 0; messages--) daemon.write(message(random));
      await settle();
      daemon.hangUp();
      for (const outcome of await calls) {
        if (outcome.status === 'fulfilled') continue;
        const { reason } = outcome as { reason: unknown };
        const isTyped = [RpcConnectionError, LibvirtError, XdrError, RpcCallError].some(
          (type) => reason instanceof type,
        );
        if (!isTyped) throw reason;
        const name = (reason as Error).name;
        failures.set(name, (failures.get(name) ?? 0) + 1);
      }
    }
    expect([...failures.keys()].sort()).toEqual(expect.arrayContaining(['RpcConnectionError', 'XdrError']));
  });
});

/** A message that is plausible in most fields. */
function message(random: (below: number) => number): Buffer {
  if (random(8) === 0) return Buffer.from(Array.from({ length: random(200) }, () => random(256)));
  const all = samples();
  const [procedure, payload] = all[random(all.length)]!;
  // The first two calls of the test, and its stream.
  const [pending, serial] = [
    [14, 4],
    [273, 5],
    [201, 6],
  ][random(3)] as [number, number];
  const header = {
    program: random(10) === 0 ? random(2 ** 32) : REMOTE_PROGRAM,
    version: random(20) === 0 ? random(4) : PROGRAM_VERSION,
    procedure: [pending, pending, procedure.number, 318, 379][random(5)]!,
    type: [MessageType.reply, MessageType.event, MessageType.stream, MessageType.streamHole, random(9)][random(5)]!,
    serial: random(5) === 0 ? random(8) : serial,
    status: [MessageStatus.ok, MessageStatus.error, MessageStatus.continue, random(9)][random(4)]!,
  };
  const bytes = encodeMessage(
    header,
    { write: (writer) => writer.opaque(mutate(payload, random)), read: () => undefined },
    undefined,
  );
  return random(10) === 0 ? mutate(bytes, random) : bytes;
}
