import { Duplex } from 'node:stream';
import { Channel, ChannelClosed, RemoteError } from './channel.js';

interface Calculator {
  double(value: number): number;
  fail(message: string): Promise<never>;
  note(text: string): void;
}

/** Two ends of a pipe. */
function pair(): [Duplex, Duplex] {
  const end = (): Duplex =>
    new Duplex({
      read: () => undefined,
      write(chunk: Buffer, _encoding, done) {
        other.get(this)!.push(chunk);
        done();
      },
      final(done) {
        other.get(this)!.push(null);
        done();
      },
      destroy(error, done) {
        other.get(this)!.push(null);
        done(error);
      },
    });
  const [left, right] = [end(), end()];
  const other = new Map([
    [left, right],
    [right, left],
  ]);
  return [left, right];
}

describe('Channel', () => {
  let notes: string[];
  let closed: string[];
  let near: Channel<Calculator>;
  let far: Channel<Calculator>;
  let ends: [Duplex, Duplex];

  beforeEach(() => {
    notes = [];
    // The ends of the previous test may still be closing.
    const mine: string[] = [];
    closed = mine;
    const methods = {
      double: (value: number) => 2 * value,
      fail: (message: string) => Promise.reject(new Error(message)),
      note: (text: string) => void notes.push(text),
    };
    ends = pair();
    near = new Channel<Calculator>(ends[0], methods, () => mine.push('near'));
    far = new Channel<Calculator>(ends[1], methods, () => mine.push('far'));
  });
  afterEach(() => {
    near.close();
    far.close();
  });

  test('calls the other side in both directions', async () => {
    expect(await Promise.all([near.call('double', 4), far.call('double', 5)])).toEqual([8, 10]);
  });

  test('rejects with the message of an error of the other side', async () => {
    await expect(near.call('fail', 'no room')).rejects.toThrow(new RemoteError('no room'));
  });

  test('delivers messages in order, whatever they contain and however they are cut', async () => {
    const texts = ['a\nb', 'ü€😀', '"', ''];
    for (const text of texts) near.notify('note', text);
    const { promise, resolve } = Promise.withResolvers<void>();
    near.notify('note', 'last', resolve);
    await promise;
    await near.call('double', 1);
    expect(notes).toEqual([...texts, 'last']);
    const line = Buffer.from(`${JSON.stringify([0, 'note', 'ü€😀'])}\n`);
    for (const byte of line) ends[0].write(Buffer.from([byte]));
    await near.call('double', 1);
    expect(notes.at(-1)).toBe('ü€😀');
  });

  test('receives everything that was sent before the other process ended, and rejects what it has not answered', async () => {
    const unanswered = far.call('fail', 'late').catch((error: unknown) => error);
    near.notify('note', 'before', () => ends[0].destroy());
    expect(await unanswered).toBeInstanceOf(Error);
    await new Promise((resume) => setImmediate(resume));
    expect(notes).toEqual(['before']);
    expect(closed.sort()).toEqual(['far', 'near']);
    await expect(far.call('double', 1)).rejects.toThrow(ChannelClosed);
  });
});
