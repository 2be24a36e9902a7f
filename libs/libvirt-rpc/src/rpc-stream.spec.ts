import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { ErrorNumber, LibvirtError, RpcConnectionError } from './errors.js';
import { procedures } from './procedures.js';
import { RpcConnection } from './rpc-connection.js';
import { FakeDaemon } from './testing/fake-daemon.js';
import { ManualTimers, settle } from './testing/manual-timers.js';
import { errorPayload, MessageStatus, MessageType } from './wire/message.js';

const { storageVolUpload, storageVolDownload, connectGetHostname, domainOpenConsole } = procedures;
const volume = { pool: 'headgate', name: 'disk', key: '' };
const whole = { volume, offset: 0, length: 0, flags: 0 };
const NO_SPACE = new LibvirtError(ErrorNumber.operationFailed, 18, 'cannot write data: No space left on device');

/** Leaves time for everything else between its chunks. */
const endless = (chunkBytes: number): Readable =>
  Readable.from(
    (async function* () {
      for (;;) {
        await new Promise((resolve) => setImmediate(resolve));
        yield Buffer.alloc(chunkBytes);
      }
    })(),
  );

describe('RpcStream', () => {
  let daemon: FakeDaemon;
  let connection: RpcConnection;
  let serial: number;

  beforeEach(() => {
    daemon = new FakeDaemon();
    connection = new RpcConnection(daemon.transport, new ManualTimers());
    for (const procedure of [storageVolUpload, storageVolDownload, domainOpenConsole]) {
      daemon.handle(procedure as typeof storageVolUpload, (_args, header) => {
        serial = header.serial;
        daemon.reply(procedure as typeof storageVolUpload, serial, undefined);
      });
    }
    daemon.answer(connectGetHostname, () => ({ hostname: 'host-1' }));
  });
  afterEach(() => connection.close());

  const upload = () => connection.openStream(storageVolUpload, whole, { readable: false, writable: true });
  const download = () => connection.openStream(storageVolDownload, whole, { readable: true, writable: false });
  const sent = () => daemon.streamMessages(serial).map(({ header }) => header.status);
  const uploaded = () => Buffer.concat(daemon.streamMessages(serial).map(({ payload }) => payload));
  const send = (status: number, data: Uint8Array = new Uint8Array(0), procedure = storageVolDownload.number) =>
    daemon.sendRaw({ type: MessageType.stream, procedure, serial, status }, data);
  const finishWhenAsked = async () => {
    await daemon.until(() => sent().at(-1) === MessageStatus.ok);
    send(MessageStatus.ok);
  };

  test('uploads in messages that libvirt accepts, and ends when libvirt confirms', async () => {
    const content = randomBytes(1_000_000);
    const stream = await upload();
    const done = pipeline(Readable.from([content, Buffer.alloc(0), content]), stream);
    await finishWhenAsked();
    await done;
    expect(uploaded().equals(Buffer.concat([content, content]))).toBe(true);
    const lengths = daemon.streamMessages(serial).map(({ payload }) => payload.length);
    expect(Math.max(...lengths)).toBeLessThanOrEqual(262_120);
    expect(lengths.filter((length) => length === 0)).toHaveLength(1);
  });

  test('does not finish an upload before libvirt confirms it', async () => {
    const stream = await upload();
    let isFinished = false;
    stream.end('data', () => (isFinished = true));
    await daemon.until(() => sent().at(-1) === MessageStatus.ok);
    await settle();
    expect(isFinished).toBe(false);
    send(MessageStatus.ok);
    await settle();
    expect(isFinished).toBe(true);
  });

  test('stops writing while libvirt does not read', async () => {
    const stream = await upload();
    daemon.pauseReading();
    const chunk = Buffer.alloc(262_120);
    let accepted = 0;
    const source = Readable.from(
      (function* () {
        for (; accepted < 100; accepted++) yield chunk;
      })(),
    );
    const done = pipeline(source, stream);
    await settle();
    expect(accepted).toBeLessThan(10);
    daemon.resumeReading();
    await finishWhenAsked();
    await done;
    expect(uploaded()).toHaveLength(100 * chunk.length);
  });

  test('fails an upload with the error that libvirt sends in between', async () => {
    const stream = await upload();
    const source = endless(1000);
    const outcome = expect(pipeline(source, stream)).rejects.toMatchObject({
      code: ErrorNumber.operationFailed,
      message: expect.stringContaining('No space left'),
    });
    await daemon.until(() => sent().length > 3);
    daemon.send(
      { type: MessageType.stream, procedure: storageVolUpload.number, serial, status: 1 },
      errorPayload,
      NO_SPACE,
    );
    await outcome;
    expect(await connection.call(connectGetHostname, undefined)).toEqual({ hostname: 'host-1' });
  });

  test('reports the error of an upload that libvirt refuses to complete', async () => {
    const stream = await upload();
    const done = expect(pipeline(Readable.from(['data']), stream)).rejects.toMatchObject({ message: NO_SPACE.message });
    await daemon.until(() => sent().at(-1) === MessageStatus.ok);
    daemon.send(
      { type: MessageType.stream, procedure: storageVolUpload.number, serial, status: 1 },
      errorPayload,
      NO_SPACE,
    );
    await done;
  });

  test('aborts in libvirt when it is destroyed, and tolerates what libvirt had sent already', async () => {
    const stream = await download();
    stream.destroy();
    await daemon.until(() => sent().length === 1);
    expect(sent()).toEqual([MessageStatus.error]);
    send(MessageStatus.continue, Buffer.from('late'));
    send(MessageStatus.ok);
    expect(await connection.call(connectGetHostname, undefined)).toEqual({ hostname: 'host-1' });
  });

  test('downloads until the end, confirms it, and closes', async () => {
    daemon.chunkBytes = 7;
    const stream = await download();
    const content = buffer(stream);
    send(MessageStatus.continue, Buffer.from('first '));
    send(MessageStatus.continue, Buffer.from('second'));
    send(MessageStatus.continue);
    await finishWhenAsked();
    expect((await content).toString()).toBe('first second');
    expect(sent()).toEqual([MessageStatus.ok]);
    await settle();
    expect(stream.closed).toBe(true);
  });

  test('stops reading from the connection while its reader is slow', async () => {
    const stream = await download();
    for (let i = 0; i < 200; i++) send(MessageStatus.continue, Buffer.alloc(10_000, i));
    await settle();
    expect(stream.readableLength).toBeLessThan(500_000);
    send(MessageStatus.continue);
    const content = buffer(stream);
    await finishWhenAsked();
    expect(await content).toHaveLength(2_000_000);
    expect(await connection.call(connectGetHostname, undefined)).toEqual({ hostname: 'host-1' });
  });

  test('a call waits for no stream that was aborted while its reader was slow', async () => {
    const stream = await download();
    for (let i = 0; i < 200; i++) send(MessageStatus.continue, Buffer.alloc(10_000));
    await settle();
    stream.destroy();
    expect(await connection.call(connectGetHostname, undefined)).toEqual({ hostname: 'host-1' });
  });

  test('carries a console in both directions until the guest ends it', async () => {
    const args = { domain: { name: '', uuid: '2c749204-8322-4dfd-b324-cb2e556e0e9a', id: -1 }, device: null, flags: 0 };
    const stream = await connection.openStream(domainOpenConsole, args, { readable: true, writable: true });
    const output = buffer(stream);
    stream.write('root\n');
    await daemon.until(() => uploaded().toString() === 'root\n');
    send(MessageStatus.continue, Buffer.from('Password: '), domainOpenConsole.number);
    send(MessageStatus.continue, new Uint8Array(0), domainOpenConsole.number);
    expect((await output).toString()).toBe('Password: ');
    await finishWhenAsked();
    await settle();
    expect(stream.closed).toBe(true);
  });

  test.each<[string, () => void]>([
    ['data for an upload', () => send(MessageStatus.continue, Buffer.from('x'), storageVolUpload.number)],
    [
      'a hole',
      () => daemon.sendRaw({ type: MessageType.streamHole, procedure: 208, serial, status: 2 }, Buffer.alloc(12)),
    ],
    ['an unknown status', () => send(9)],
  ])('fails and aborts when libvirt sends %s', async (_title, misbehave) => {
    const stream = await upload();
    const failure = new Promise((resolve) => stream.once('error', resolve));
    misbehave();
    expect(await failure).toMatchObject({ failure: 'protocol' });
    await daemon.until(() => sent().at(-1) === MessageStatus.error);
  });

  test("fails when libvirt sends an error that can't be decoded", async () => {
    const stream = await upload();
    const failure = new Promise((resolve) => stream.once('error', resolve));
    send(MessageStatus.error, Buffer.from('xy'), storageVolUpload.number);
    expect(await failure).toMatchObject({ failure: 'protocol' });
  });

  test('fails with the connection', async () => {
    const [up, down] = [await upload(), await download()];
    const outcomes = Promise.allSettled([pipeline(endless(100_000), up), buffer(down)]);
    await settle();
    daemon.hangUp();
    for (const outcome of await outcomes) {
      expect((outcome as PromiseRejectedResult).reason).toBeInstanceOf(RpcConnectionError);
    }
  });

  test('a stream that is refused is no stream', async () => {
    daemon.answer(storageVolUpload, () => {
      throw new LibvirtError(ErrorNumber.noStorageVolume, 18, 'Storage volume not found');
    });
    await expect(upload()).rejects.toMatchObject({ code: ErrorNumber.noStorageVolume });
    expect(daemon.received).toHaveLength(1);
  });

  test('a stream that opens after it was given up is aborted', async () => {
    daemon.handle(storageVolDownload, (_args, header) => void (serial = header.serial));
    const abort = new AbortController();
    const outcome = expect(
      connection.openStream(storageVolDownload, whole, { readable: true, writable: false }, { signal: abort.signal }),
    ).rejects.toMatchObject({ reason: 'aborted' });
    await daemon.until(() => daemon.received.length === 1);
    abort.abort();
    await outcome;
    daemon.reply(storageVolDownload, serial, undefined);
    await daemon.until(() => sent().length === 1);
    expect(sent()).toEqual([MessageStatus.error]);
    send(MessageStatus.ok);
    expect(await connection.call(connectGetHostname, undefined)).toEqual({ hostname: 'host-1' });
  });

  test('a connection that ends while a stream is opened rejects the opening', async () => {
    daemon.handle(storageVolDownload, () => daemon.hangUp());
    await expect(download()).rejects.toMatchObject({ failure: 'unreachable' });
  });
});
