import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MAX_READ_BYTES } from './nbd-export.js';
import { NbdExportServer } from './nbd-export-server.js';
import { SocketReader } from './socket-reader.js';

const MIB = 1024 ** 2;
const SIZE = 64 * MIB;
const [READ, WRITE, DISCONNECT, FLUSH, TRIM, WRITE_ZEROES, BLOCK_STATUS] = [0, 1, 2, 3, 4, 6, 7];
const [EPERM, EIO, EINVAL] = [1, 5, 22];
const [ABORT, LIST, GO, STRUCTURED] = [2, 3, 7, 8];

function option(code: number, payload: Buffer = Buffer.alloc(0), length = payload.length): Buffer {
  const header = Buffer.alloc(16);
  header.write('IHAVEOPT', 'latin1');
  header.writeUInt32BE(code, 8);
  header.writeUInt32BE(length, 12);
  return Buffer.concat([header, payload]);
}

function go(name: string, nameLength = name.length): Buffer {
  const payload = Buffer.alloc(6 + name.length);
  payload.writeUInt32BE(nameLength);
  payload.write(name, 4);
  return option(GO, payload);
}

function request(command: number, offset: number | bigint, length: number, magic = 0x25609513): Buffer {
  const message = Buffer.alloc(28);
  message.writeUInt32BE(magic);
  message.writeUInt16BE(command, 6);
  message.writeBigUInt64BE(77n, 8);
  message.writeBigUInt64BE(BigInt(offset), 16);
  message.writeUInt32BE(length, 24);
  return message;
}

describe('a hostile client of a served disk', () => {
  let folder: string;
  let server: NbdExportServer;
  let reads: { readonly offset: number; readonly length: number }[];
  let answer: (length: number) => Promise<Buffer>;
  const sockets: Socket[] = [];

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'nbd-spec-'));
    reads = [];
    answer = async (length) => Buffer.alloc(length, 7);
    const read = (offset: number, length: number): Promise<Buffer> => {
      reads.push({ offset, length });
      return answer(length);
    };
    server = new NbdExportServer({
      exports: new Map([['vda', { sizeBytes: SIZE, read }]]),
      path: join(folder, 's'),
      onFailure: () => undefined,
    });
    await server.listen();
  });
  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.destroy();
    await server.close();
    await rm(folder, { recursive: true });
  });

  const open = async () => {
    const socket = connect(join(folder, 's'));
    sockets.push(socket);
    const reader = new SocketReader(socket);
    await reader.take(18);
    const begin = (flags = 3): void => {
      const bytes = Buffer.alloc(4);
      bytes.writeUInt32BE(flags);
      socket.write(bytes);
    };
    const optionReply = async (): Promise<number | undefined> => {
      const header = await reader.take(20);
      await reader.skip(header?.readUInt32BE(16) ?? 0);
      return header?.readUInt32BE(12);
    };
    const error = async (): Promise<number | undefined> => (await reader.take(16))?.readUInt32BE(4);
    const isEnded = async (): Promise<boolean> => (await reader.take(1)) === undefined;
    return { socket, reader, begin, optionReply, error, isEnded };
  };
  const opened = async () => {
    const client = await open();
    client.begin();
    client.socket.write(go('vda'));
    expect([await client.optionReply(), await client.optionReply(), await client.optionReply()]).toEqual([3, 3, 1]);
    return client;
  };

  test.each([0, 2, 5, 0xffff_ffff])('is disconnected for the flags %i', async (flags) => {
    const { begin, isEnded } = await open();
    begin(flags);
    expect(await isEnded()).toBe(true);
  });

  test.each([
    ['a wrong magic', Buffer.alloc(16, 1)],
    ['an option that is too long', option(LIST, Buffer.alloc(0), 0xffff_ffff)],
    ['the old option with an unknown name', option(1, Buffer.from('vdz'))],
    ['endless options', Buffer.concat(Array.from({ length: 70 }, () => option(LIST)))],
  ])('is disconnected for %s', async (_name, bytes) => {
    const { socket, begin, reader } = await open();
    begin();
    socket.write(bytes);
    let received = 0;
    while (await reader.take(1)) received++;
    expect(received).toBeLessThan(10_000);
  });

  test.each([
    ['an unknown name', go('../vda'), 0x8000_0006],
    ['a name that is longer than its message', go('vda', 4000), 0x8000_0003],
    ['structured replies', option(STRUCTURED), 0x8000_0001],
    ['a list with data', option(LIST, Buffer.from('x')), 0x8000_0003],
    ['the end', option(ABORT), 1],
  ])('gets the right reply to %s', async (_name, bytes, type) => {
    const { socket, begin, optionReply } = await open();
    begin();
    socket.write(bytes);
    expect(await optionReply()).toBe(type);
  });

  test.each([
    ['behind the end', READ, SIZE - 1, 2, EINVAL],
    ['far behind the end', READ, 2n ** 64n - 1n, 1, EINVAL],
    ['of nothing', READ, 0, 0, EINVAL],
    ['that is too long', READ, 0, MAX_READ_BYTES + 1, EINVAL],
    ['of a block status', BLOCK_STATUS, 0, 512, EINVAL],
    ['that is unknown', 999, 0, 512, EINVAL],
    ['that trims', TRIM, 0, 512, EPERM],
    ['that writes zeros', WRITE_ZEROES, 0, 512, EPERM],
    ['that flushes', FLUSH, 0, 0, 0],
  ])('gets an error for a request %s, and is still served', async (_name, command, offset, length, expected) => {
    const { socket, reader, error } = await opened();
    socket.write(request(command, offset, length));
    expect(await error()).toBe(expected);
    expect(reads).toEqual([]);
    socket.write(request(READ, SIZE - 512, 512));
    expect(await error()).toBe(0);
    expect(await reader.take(512)).toEqual(Buffer.alloc(512, 7));
  });

  test('may not write, and its data is no request', async () => {
    const { socket, error } = await opened();
    socket.write(Buffer.concat([request(WRITE, 0, 28), request(READ, 0, 512), request(FLUSH, 0, 0)]));
    expect([await error(), await error()]).toEqual([EPERM, 0]);
    expect(reads).toEqual([]);
  });

  test.each([
    ['a request without its magic', request(READ, 0, 512, 1)],
    ['a write that is too long', request(WRITE, 0, MAX_READ_BYTES + 1)],
    ['a disconnection', request(DISCONNECT, 0, 0)],
  ])('is disconnected after %s', async (_name, bytes) => {
    const { socket, isEnded } = await opened();
    socket.write(bytes);
    expect(await isEnded()).toBe(true);
  });

  test('gets EIO for a disk that is shorter than it says', async () => {
    answer = async () => Buffer.alloc(3);
    const { socket, error } = await opened();
    socket.write(request(READ, 0, 512));
    expect(await error()).toBe(EIO);
  });

  test('that does not read its replies takes no more memory than two of the longest', async () => {
    const clients = [await opened(), await opened()];
    for (const { socket } of clients) for (let at = 0; at < 40; at++) socket.write(request(READ, 0, MAX_READ_BYTES));
    // All requests have been received once both clients wait for the same budget.
    await expectStable(() => reads.length, 2);
    for (const { socket } of clients) socket.destroy();
    const other = await opened();
    other.socket.write(request(READ, 0, 512));
    expect(await other.error()).toBe(0);
  });

  test('that leaves while a part is read does not disturb the next one', async () => {
    let finish: (data: Buffer) => void = () => undefined;
    answer = () => new Promise((resolve) => (finish = resolve));
    const leaving = await opened();
    leaving.socket.write(request(READ, 0, 512));
    await expectStable(() => reads.length, 1);
    leaving.socket.destroy();
    await once(leaving.socket, 'close');
    finish(Buffer.alloc(512));
    answer = async (length) => Buffer.alloc(length, 9);
    const { socket, error } = await opened();
    socket.write(request(READ, 0, 512));
    expect(await error()).toBe(0);
  });
});

/** Waits for a number, and lets the service go on for a while to see that it stays. */
async function expectStable(count: () => number, expected: number): Promise<void> {
  while (count() < expected) await new Promise(setImmediate);
  for (let turn = 0; turn < 200; turn++) await new Promise(setImmediate);
  expect(count()).toBe(expected);
}
