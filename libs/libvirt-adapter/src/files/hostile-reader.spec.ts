import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { FixedClock } from '@headgate/testing';
import { readPage, readVolumes } from './answers.js';
import { ReaderPort } from './reader-port.js';

const ANSWER_MS = 1000;
const never = new AbortController().signal;

const frame = (type: string, id: number, content: Buffer | string = ''): Buffer => {
  const body = Buffer.from(content as string);
  const header = Buffer.alloc(9);
  header.write(type, 0, 'latin1');
  header.writeUInt32BE(id, 1);
  header.writeUInt32BE(body.length, 5);
  return Buffer.concat([header, body]);
};
/** A text with its length before it. */
const field = (text: string | Buffer): Buffer => {
  const bytes = Buffer.from(text as string);
  const length = Buffer.alloc(2);
  length.writeUInt16BE(bytes.length);
  return Buffer.concat([length, bytes]);
};

describe('A hostile guest that reads files', () => {
  let folder: string;
  let server: Server;
  let guest: Socket;
  let socket: Socket;
  let clock: FixedClock;
  let port: ReaderPort;
  let reasons: string[];

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'hgtest-reader-'));
    server = createServer();
    server.listen(join(folder, 's'));
    await once(server, 'listening');
    const accepted = once(server, 'connection');
    socket = connect(join(folder, 's'));
    [guest] = (await accepted) as [Socket];
    guest.on('error', () => undefined);
    clock = new FixedClock();
    reasons = [];
    port = new ReaderPort(socket, {
      clock,
      timeoutMs: ANSWER_MS,
      onBroken: (error) => {
        reasons.push((error as Error).message);
        socket.destroy();
      },
    });
  });
  afterEach(async () => {
    socket.destroy();
    guest.destroy();
    server.close();
    await once(server, 'close');
    await rm(folder, { recursive: true });
  });

  const ask = (): Promise<Buffer> => port.ask('L', Buffer.alloc(0));
  /** The number of the question that the guest receives next. */
  const question = async (): Promise<{ type: string; id: number }> => {
    for (;;) {
      const header = guest.read(9) as Buffer | null;
      if (header) {
        const length = header.readUInt32BE(5);
        if (length > 0) while (guest.read(length) === null) await once(guest, 'readable');
        return { type: header.toString('latin1', 0, 1), id: header.readUInt32BE(1) };
      }
      await once(guest, 'readable');
    }
  };

  test.each([
    ['no frame', Buffer.from('SSH-2.0-OpenSSH')],
    ['an answer of 4 GiB', Buffer.from([0x41, 0, 0, 0, 1, 0xff, 0xff, 0xff, 0xff])],
    ['a part that is too long', Buffer.from([0x44, 0, 0, 0, 1, 0, 2, 0, 0])],
    ['an end with content', frame('E', 1, 'x')],
    ['a stream in place of an answer', frame('D', 1, 'x')],
    ['a greeting in place of an answer', frame('H', 1)],
  ])('is ended when it sends %s', async (_name, bytes) => {
    const asked = expect(ask()).rejects.toMatchObject({ code: 'BACKEND_FAILED' });
    guest.write(bytes);
    await asked;
    expect(reasons).toHaveLength(1);
    await expect(ask()).rejects.toMatchObject({ code: 'BACKEND_FAILED' });
  });

  test('is ended when it does not answer in time, also in the middle of a frame', async () => {
    const asked = expect(ask()).rejects.toMatchObject({ code: 'BACKEND_TIMEOUT' });
    guest.write(frame('A', 1, 'half').subarray(0, 11));
    await question();
    clock.advance(ANSWER_MS);
    await asked;
    expect(reasons).toHaveLength(1);
  });

  test('is ended when it answers other questions without an end', async () => {
    const asked = expect(ask()).rejects.toMatchObject({ code: 'BACKEND_FAILED' });
    await question();
    guest.write(Buffer.concat(Array.from({ length: 600 }, () => frame('D', 77, 'x'))));
    await asked;
    expect(reasons).toEqual(['The reader guest does not stop a canceled download.']);
  });

  test('is ended when it leaves during a download', async () => {
    const opening = port.stream('R', Buffer.alloc(0), never);
    const { id } = await question();
    guest.write(Buffer.concat([frame('A', id, 'head'), frame('D', id, 'some')]));
    const { body } = await opening;
    const read = expect(buffer(body)).rejects.toMatchObject({ code: 'BACKEND_FAILED' });
    guest.end();
    await read;
  });

  test('fails a question with words of its own, cut and without control characters', async () => {
    const asked = ask();
    const { id } = await question();
    guest.write(frame('X', id, Buffer.concat([field('root-shell'), field(`\u001b[2J${'long '.repeat(200)}`)])));
    const error = (await asked.catch((caught: unknown) => caught)) as Error & { code: string };
    expect(error.code).toBe('BACKEND_FAILED');
    expect(error.message.length).toBeLessThanOrEqual(300);
    expect(error.message).not.toMatch(/\p{Cc}/u);
    // The port goes on.
    const again = ask();
    const next = await question();
    guest.write(frame('A', next.id, 'answer'));
    expect((await again).toString()).toBe('answer');
  });

  test('cancels a download that its reader leaves, and its rest does not reach the next question', async () => {
    const opening = port.stream('R', Buffer.alloc(0), never);
    const { id } = await question();
    guest.write(Buffer.concat([frame('A', id, 'head'), frame('D', id, 'one')]));
    const { head, body } = await opening;
    expect(head.toString()).toBe('head');
    expect(port.isBusy).toBe(true);
    expect((await once(body, 'readable')) && (body.read() as Buffer).toString()).toBe('one');
    body.destroy();
    const next = ask();
    // Under way before the guest has read that it was canceled.
    guest.write(frame('D', id, 'two'));
    expect(await question()).toEqual({ type: 'C', id });
    guest.write(frame('E', id));
    const asked = await question();
    expect(asked.type).toBe('L');
    guest.write(Buffer.concat([frame('D', id, 'three'), frame('A', asked.id, 'answer')]));
    expect((await next).toString()).toBe('answer');
    expect(port.isBusy).toBe(false);
  });

  test('is not waited for by a caller that has left, and a failure in a stream destroys it', async () => {
    await expect(port.stream('R', Buffer.alloc(0), AbortSignal.abort(new Error('gone')))).rejects.toThrow('gone');
    const opening = port.stream('T', Buffer.alloc(0), never);
    const { id } = await question();
    guest.write(Buffer.concat([frame('A', id), frame('X', id, Buffer.concat([field('failed'), field('Damaged.')]))]));
    await expect(buffer((await opening).body)).rejects.toMatchObject({ code: 'BACKEND_FAILED', message: 'Damaged.' });
    expect(reasons).toEqual([]);
  });

  const entry = (kind: string, seconds: bigint, name: Buffer | string, target = ''): Buffer => {
    const numbers = Buffer.alloc(19);
    numbers.write(kind, 0, 'latin1');
    numbers.writeBigUInt64BE(2n ** 64n - 1n, 1);
    numbers.writeBigInt64BE(seconds, 9);
    numbers.writeUInt16BE(0xffff, 17);
    return Buffer.concat([numbers, field(name), field(target)]);
  };
  const page = (...entries: Buffer[]): Buffer => Buffer.concat([Buffer.from([0, 0, 0, 1, 0]), ...entries]);

  test('lists odd entries without harm', () => {
    const { entries } = readPage(
      page(entry('f', 2n ** 62n, Buffer.from([0xff, 0x0a])), entry('!', 0n, '../up'), entry('l', -1n, 'l', '\u202e')),
      10,
    );
    expect(entries).toEqual([
      { name: '%FF%0A', kind: 'file', sizeBytes: Number.MAX_SAFE_INTEGER, mode: 0o7777 },
      { name: '../up', kind: 'unreadable', sizeBytes: 0, mode: 0o7777 },
      {
        name: 'l',
        kind: 'link',
        sizeBytes: 0,
        mode: 0o7777,
        modifiedAt: '1969-12-31T23:59:59.000Z',
        target: '%E2%80%AE',
      },
    ]);
    expect(readPage(page(entry('f', 0n, 'a'), entry('f', 0n, 'b')), 1).entries).toHaveLength(1);
    const cut = page(entry('f', 0n, 'name')).subarray(0, -5);
    expect(() => readPage(cut, 10)).toThrow(expect.objectContaining({ code: 'BACKEND_FAILED' }));
  });

  test('has at most 256 volumes, on disks that exist', () => {
    const volume = Buffer.concat([
      Buffer.from([0xff, 0xff, 0, 0, 0, 0, 0, 0, 0x10, 0]),
      ...['vda\u001b[31m', 'ext4', '\u0007', ''].map(field),
    ]);
    const volumes = readVolumes(Buffer.concat(Array.from({ length: 300 }, () => volume)), ['sda']);
    expect(volumes).toHaveLength(256);
    expect(volumes[7]).toEqual({
      number: 7,
      disk: 'sda',
      name: 'vda [31m',
      fileSystem: 'ext4',
      label: '%07',
      sizeBytes: 4096,
    });
  });
});
