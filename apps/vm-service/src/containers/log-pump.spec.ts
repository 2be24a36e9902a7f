import { PassThrough, Readable } from 'node:stream';
import { FixedClock } from '@headgate/testing';
import { LogPump } from './log-pump.js';

const MIB = 1024 ** 2;

describe('LogPump', () => {
  const clock = new FixedClock(0);
  const start = (source: Readable, out = new PassThrough(), maxBytes = MIB): PassThrough => {
    out.on('error', () => undefined);
    new LogPump({ source, out, clock, maxBytes }).start();
    return out;
  };
  const readAll = async (out: PassThrough): Promise<string> => {
    let text = '';
    for await (const chunk of out) text += String(chunk);
    return text;
  };

  test('passes on a log unchanged, of any bytes', async () => {
    const bytes = Buffer.from([0x1b, 0x5b, 0x32, 0x4a, 0, 0xff, 0xfe, 0x0a]);
    const chunks: Buffer[] = [];
    for await (const chunk of start(Readable.from([bytes]))) chunks.push(chunk as Buffer);
    expect(Buffer.concat(chunks)).toEqual(bytes);
  });

  test('ends with a note at the limit, and closes the log', async () => {
    const source = new PassThrough();
    const out = start(source);
    source.write('x'.repeat(MIB - 1));
    source.write('yyyy');
    const text = await readAll(out);
    expect(text.slice(MIB - 2)).toMatch(/^xy\n\[The log is cut here after 1 MiB: .*\.\]\n$/);
    expect(source.destroyed).toBe(true);
  });

  test('reads no further while the client reads nothing, and disconnects it after a minute', async () => {
    const source = new PassThrough();
    const out = start(source, new PassThrough({ highWaterMark: 4 }));
    source.write('a line that fills the buffer\n');
    await new Promise(setImmediate);
    expect(source.isPaused()).toBe(true);
    clock.advance(59_000);
    expect(out.destroyed).toBe(false);
    clock.advance(2_000);
    expect(out.destroyed).toBe(true);
    await new Promise(setImmediate);
    expect(source.destroyed).toBe(true);
    expect(clock.pending).toBe(0);
  });

  test('continues when the client reads again', async () => {
    const source = new PassThrough();
    const out = start(source, new PassThrough({ highWaterMark: 4 }));
    source.write('a line that fills the buffer\n');
    await new Promise(setImmediate);
    const reading = readAll(out);
    source.end('and the end\n');
    expect(await reading).toBe('a line that fills the buffer\nand the end\n');
    clock.advance(120_000);
    expect(clock.pending).toBe(0);
  });

  test('closes the log when the client leaves', async () => {
    const source = new PassThrough();
    start(source).destroy();
    await new Promise(setImmediate);
    expect(source.destroyed).toBe(true);
  });

  test('breaks off with a log that breaks off, so that it does not look complete', async () => {
    const source = new PassThrough();
    const out = start(source);
    source.write('one\n');
    source.destroy(new Error('The node is gone.'));
    await expect(readAll(out)).rejects.toThrow();
    const early = new PassThrough();
    early.on('error', () => undefined).destroy();
    await new Promise(setImmediate);
    expect(start(early).destroyed).toBe(true);
  });
});
