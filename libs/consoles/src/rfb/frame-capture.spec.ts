import { Duplex } from 'node:stream';
import { DomainError } from '@headgate/domain-contracts';
import { FixedClock } from '@headgate/testing';
import { FrameCapture } from './frame-capture.js';
import { Encoding, rectangleHeader, updateHeader } from './messages.js';
import { NotShareableError } from './upstream-session.js';
import { FakeScreen, type FakeScreenOptions } from './testing/fake-screen.js';
import { buildPicture } from './testing/pictures.js';

/** A server that says what a test wants, whatever it is asked. */
class Script extends Duplex {
  received = Buffer.alloc(0);
  override _read(): void {}
  override _write(data: Buffer, _encoding: string, done: () => void): void {
    this.received = Buffer.concat([this.received, data]);
    done();
  }
}

const u16 = (...values: number[]): Buffer => {
  const bytes = Buffer.alloc(values.length * 2);
  values.forEach((value, index) => bytes.writeUInt16BE(value, index * 2));
  return bytes;
};
const GREETING = Buffer.concat([Buffer.from('RFB 003.008\n'), Buffer.from([1, 1]), Buffer.alloc(4)]);
const init = (width: number, height: number): Buffer =>
  Buffer.concat([GREETING, u16(width, height), Buffer.alloc(16), Buffer.alloc(4)]);

describe('FrameCapture', () => {
  const clock = new FixedClock();
  let streams: Duplex[];
  beforeEach(() => (streams = []));
  afterEach(() => streams.forEach((stream) => stream.destroy()));

  const captureOf = (stream: Duplex): FrameCapture => {
    streams.push(stream);
    return new FrameCapture({ clock, open: async () => stream });
  };
  const look = (options: FakeScreenOptions = {}): { screen: FakeScreen; capture: FrameCapture } => {
    const screen = new FakeScreen(options);
    return { screen, capture: captureOf(screen) };
  };
  const scripted = (...parts: Buffer[]): { script: Script; capture: FrameCapture } => {
    const script = new Script();
    const capture = captureOf(script);
    script.push(Buffer.concat(parts));
    return { script, capture };
  };

  test('takes the whole screen, sends no input and leaves', async () => {
    const size = { width: 300, height: 200 };
    const { screen, capture } = look({ size });
    screen.picture.pixels.set(buildPicture(size).pixels);
    const frame = await capture.frame;
    expect(frame).toMatchObject(size);
    expect(frame.pixels.map((pixel) => pixel & 0xffffff)).toEqual(screen.picture.pixels);
    expect([screen.acts, screen.requests, screen.destroyed]).toEqual([[], ['whole'], true]);
  });

  test('asks for a shared session, so that no other client is disconnected', async () => {
    const { script, capture } = scripted(init(1, 1), updateHeader(1));
    script.push(Buffer.concat([rectangleHeader({ x: 0, y: 0, width: 1, height: 1 }, Encoding.raw), Buffer.alloc(4)]));
    await capture.frame;
    expect(script.received.subarray(12, 14)).toEqual(Buffer.from([1, 1]));
  });

  test('waits for the rest of a screen that is drawn in parts, and follows a new size', async () => {
    const { screen, capture } = look({ silent: true, size: { width: 64, height: 64 } });
    await waitFor(() => screen.requests.length === 1);
    screen.resize({ width: 20, height: 10 });
    await waitFor(() => screen.requests.length === 2);
    screen.paint({ x: 0, y: 0, width: 20, height: 4 }, 0x0000ff);
    screen.paint({ x: 0, y: 4, width: 20, height: 6 }, 0xff0000);
    const { width, height, pixels } = await capture.frame;
    expect([width, height, (pixels[0] ?? 0) & 0xffffff, (pixels.at(-1) ?? 0) & 0xffffff]).toEqual([
      20, 10, 0x0000ff, 0xff0000,
    ]);
  });

  test.each<[string, Buffer[], Partial<DomainError> | typeof NotShareableError]>([
    ['asks for a password', [Buffer.from('RFB 003.008\n'), Buffer.from([1, 2])], NotShareableError],
    ['is too old', [Buffer.from('RFB 003.003\n')], NotShareableError],
    ['is no screen', [Buffer.from('HTTP/1.1 400 Bad\r\n')], NotShareableError],
    ['is too large', [init(65_535, 65_535)], { code: 'NOT_SUPPORTED' }],
    ['has no pixels', [init(0, 0), updateHeader(0)], { code: 'BACKEND_UNREACHABLE' }],
    [
      'has a name without end',
      [GREETING, u16(1, 1), Buffer.alloc(16, 255), Buffer.alloc(4, 255)],
      { code: 'BACKEND_UNREACHABLE' },
    ],
    [
      'draws outside of itself',
      [
        init(4, 4),
        updateHeader(1),
        rectangleHeader({ x: 2, y: 2, width: 4, height: 4 }, Encoding.raw),
        Buffer.alloc(64),
      ],
      { code: 'BACKEND_UNREACHABLE' },
    ],
    [
      'draws in an encoding that was not requested',
      [init(4, 4), updateHeader(1), rectangleHeader({ x: 0, y: 0, width: 4, height: 4 }, 7), Buffer.alloc(64)],
      { code: 'BACKEND_UNREACHABLE' },
    ],
    [
      'becomes too large later',
      [
        init(4, 4),
        updateHeader(1),
        rectangleHeader({ x: 0, y: 0, width: 65_535, height: 65_535 }, Encoding.desktopSize),
      ],
      { code: 'BACKEND_UNREACHABLE' },
    ],
  ])('gives up a screen that %s', async (_what, parts, expected) => {
    const { script, capture } = scripted(...parts);
    if (expected === NotShareableError) await expect(capture.frame).rejects.toThrow(NotShareableError);
    else await expect(capture.frame).rejects.toMatchObject(expected);
    expect(script.destroyed).toBe(true);
    await capture.ended;
  });

  test.each([
    ['before it greets', Buffer.from('RFB 0')],
    ['in the middle of its size', Buffer.concat([GREETING, u16(4)])],
    [
      'in the middle of a rectangle',
      Buffer.concat([
        init(4, 4),
        updateHeader(1),
        rectangleHeader({ x: 0, y: 0, width: 4, height: 4 }, 0),
        Buffer.alloc(9),
      ]),
    ],
  ])('gives up a screen that ends %s', async (_where, part) => {
    const { script, capture } = scripted(part);
    script.push(null);
    await expect(capture.frame).rejects.toMatchObject({ code: 'BACKEND_UNREACHABLE' });
  });

  test('gives up a screen that draws nothing within 5 s', async () => {
    const { screen, capture } = look({ silent: true });
    await waitFor(() => screen.requests.length === 1);
    clock.advance(5_000);
    await expect(capture.frame).rejects.toMatchObject({ code: 'BACKEND_TIMEOUT' });
    expect(screen.destroyed).toBe(true);
  });

  test('closes a stream that arrives after it was canceled', async () => {
    let arrive = (_stream: Duplex): void => undefined;
    const capture = new FrameCapture({ clock, open: () => new Promise((resolve) => (arrive = resolve)) });
    capture.cancel();
    await expect(capture.frame).rejects.toMatchObject({ code: 'BUSY' });
    const late = new Script();
    arrive(late);
    await capture.ended;
    expect(late.destroyed).toBe(true);
  });

  test('fails like the backend that refuses the stream', async () => {
    const refusal = new DomainError('WRONG_STATE', 'web is not running.');
    const capture = new FrameCapture({ clock, open: () => Promise.reject(refusal) });
    await expect(capture.frame).rejects.toBe(refusal);
  });
});

async function waitFor(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setImmediate(resolve));
}
