import { Readable } from 'node:stream';
import { DomainError } from '@headgate/domain-contracts';
import { FixedClock } from '@headgate/testing';
import { RangeDisk, type OpenedRange } from './range-disk.js';

const MIB = 1024 ** 2;
const IMAGE: Buffer = Buffer.from(Uint8Array.from({ length: 8 * MIB }, (_, index) => (index * 7919) >> 8));

describe('a disk that is read over a connection', () => {
  /** The offsets at which connections were opened. */
  let opened: number[];
  let streams: Readable[];
  let clock: FixedClock;
  /** What the next connections do, instead of all bytes. */
  let next: ((offset: number) => OpenedRange | Promise<OpenedRange>)[];
  let closing: AbortController;

  beforeEach(() => {
    [opened, streams, next, clock, closing] = [[], [], [], new FixedClock(), new AbortController()];
  });

  const sent = (chunks: Iterable<Buffer> | AsyncIterable<Buffer>): OpenedRange => {
    const stream = Readable.from(chunks);
    streams.push(stream);
    return { stream, imageBytes: IMAGE.length };
  };
  function* pieces(offset: number, end: number = IMAGE.length): Generator<Buffer> {
    for (let at = offset; at < end; at += 60_000) yield IMAGE.subarray(at, Math.min(end, at + 60_000));
  }
  const disk = (sizeBytes = IMAGE.length): RangeDisk =>
    new RangeDisk({
      clock,
      name: 'The disk root',
      sizeBytes,
      imageBytes: IMAGE.length,
      signal: closing.signal,
      open: async (offset) => {
        opened.push(offset);
        return (await next.shift()?.(offset)) ?? sent(pieces(offset));
      },
    });
  /** Lets the pauses between attempts pass. */
  const passing = async <T>(work: Promise<T>): Promise<T> => {
    let isOver = false;
    const ended = work.finally(() => (isOver = true));
    ended.catch(() => undefined);
    while (!isOver) {
      await new Promise((resolve) => setImmediate(resolve));
      clock.advance(60_000);
    }
    return ended;
  };

  test('uses one connection for reads in its order, many at a time, and drops small gaps', async () => {
    const root = disk();
    const offsets = [0, 1, 2, 3, 5, 7].map((block) => block * MIB);
    const read = await Promise.all(offsets.map((offset) => root.read(offset, MIB)));
    for (const [index, bytes] of read.entries()) {
      const offset = offsets[index] ?? 0;
      expect(bytes.equals(IMAGE.subarray(offset, offset + MIB))).toBe(true);
    }
    expect(opened).toEqual([0]);
  });

  test('opens another connection for a read elsewhere, and closes the one before', async () => {
    const root = disk();
    expect((await root.read(4 * MIB, 100)).equals(IMAGE.subarray(4 * MIB, 4 * MIB + 100))).toBe(true);
    expect((await root.read(10, 100)).equals(IMAGE.subarray(10, 110))).toBe(true);
    expect((await root.read(7 * MIB, 100)).equals(IMAGE.subarray(7 * MIB, 7 * MIB + 100))).toBe(true);
    expect(opened).toEqual([4 * MIB, 10, 7 * MIB]);
    root.close();
    expect(streams.map(({ destroyed }) => destroyed)).toEqual([true, true, true]);
  });

  test('goes on at the same byte when a connection breaks, ends early or is refused', async () => {
    const broken = async function* (): AsyncGenerator<Buffer> {
      yield IMAGE.subarray(0, 1_000_001);
      throw new Error('read ECONNRESET');
    };
    next = [
      () => sent(broken()),
      () => Promise.reject(new DomainError('BACKEND_UNREACHABLE', 'prod does not answer.')),
      (offset) => sent(pieces(offset, 1_500_000)),
    ];
    const root = disk();
    expect((await passing(root.read(0, 2 * MIB))).equals(IMAGE.subarray(0, 2 * MIB))).toBe(true);
    expect(opened).toEqual([0, 1_000_001, 1_000_001, 1_500_000]);
  });

  test('replaces a connection that has sent nothing for a minute', async () => {
    next = [() => sent({ [Symbol.asyncIterator]: () => ({ next: () => new Promise<never>(() => undefined) }) })];
    const root = disk();
    expect((await passing(root.read(0, 100))).equals(IMAGE.subarray(0, 100))).toBe(true);
    expect(opened).toEqual([0, 0]);
    expect(streams[0]?.destroyed).toBe(true);
  });

  test('gives up after several attempts without a byte, with the code and the byte', async () => {
    next = Array.from({ length: 9 }, () => () => {
      throw new DomainError('BACKEND_UNREACHABLE', 'prod does not answer.');
    });
    await expect(passing(disk().read(5, 100))).rejects.toMatchObject({
      code: 'BACKEND_UNREACHABLE',
      message: "The disk root can't be read any further at 5: prod does not answer.",
    });
    expect(opened).toHaveLength(9);
  });

  test.each(['SNAPSHOT_NOT_FOUND', 'BACKEND_FORBIDDEN', 'NOT_SUPPORTED'] as const)(
    'does not try again after %s',
    async (code) => {
      next = [() => Promise.reject(new DomainError(code, 'No.'))];
      await expect(disk().read(0, 100)).rejects.toMatchObject({ code });
      expect(opened).toEqual([0]);
    },
  );

  test('does not mix two images', async () => {
    next = [() => ({ ...sent(pieces(0)), imageBytes: IMAGE.length + 512 })];
    await expect(disk().read(0, 100)).rejects.toMatchObject({ code: 'CONFLICT' });
    expect(streams[0]?.destroyed).toBe(true);
  });

  test('is zeros after the end of its image, and nothing after its own end', async () => {
    const root = disk(9 * MIB);
    const bytes = await root.read(8 * MIB - 100, 200);
    expect(bytes.subarray(0, 100).equals(IMAGE.subarray(-100))).toBe(true);
    expect(bytes.subarray(100).equals(Buffer.alloc(100))).toBe(true);
    expect((await root.read(9 * MIB - 512, 512)).equals(Buffer.alloc(512))).toBe(true);
    await expect(root.read(9 * MIB - 10, 11)).rejects.toMatchObject({ code: 'BACKEND_FAILED' });
    expect(opened).toEqual([8 * MIB - 100]);
  });

  test('reads nothing more once its reading has ended', async () => {
    const root = disk();
    await root.read(0, 100);
    closing.abort(new DomainError('WRONG_STATE', 'The backup has ended.'));
    await expect(root.read(100, 100)).rejects.toMatchObject({ code: 'WRONG_STATE' });
    expect(opened).toEqual([0]);
  });
});
