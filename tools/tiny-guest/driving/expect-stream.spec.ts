import { PassThrough } from 'node:stream';
import { ExpectStream } from './expect-stream.mjs';

describe('ExpectStream', () => {
  test('finds what has been read already, and what comes later', async () => {
    const stream = new PassThrough();
    const console = new ExpectStream(stream, 'the console');
    stream.write('booting\r\nlog');
    await console.expect(/booting/);
    const later = console.expect(/login: /);
    stream.write('in: ');
    expect((await later)[0]).toBe('login: ');
  });

  test('does not find the same text twice', async () => {
    const stream = new PassThrough();
    const console = new ExpectStream(stream, 'the console');
    stream.write('login: ');
    await console.expect(/login: /);
    await expect(console.expect(/login: /, 20)).rejects.toThrow('20 ms passed');
  });

  test('says what it waited for, where, and what stood there instead', async () => {
    const stream = new PassThrough();
    const console = new ExpectStream(stream, 'the console');
    stream.write('Kernel panic');
    await expect(console.expect(/login: /, 20)).rejects.toThrow(
      'Waited for /login: / on the console, but 20 ms passed. It last said: "Kernel panic"',
    );
  });

  test('gives up at once when the stream ends', async () => {
    const stream = new PassThrough();
    const console = new ExpectStream(stream, 'the console');
    const waiting = console.expect(/login: /, 60_000);
    stream.destroy();
    await expect(waiting).rejects.toThrow('it ended');
  });

  test('tells the output of a command from its echo, however the shell wraps that', async () => {
    const stream = new PassThrough();
    const console = new ExpectStream(stream, 'the console');
    const running = console.shell('id -un');
    // What was typed comes back as the echo: a PassThrough is such a terminal.
    stream.write('\r\n[begin]\r\nheadgate\r\n[done:0]\r\n$ ');
    expect(await running).toEqual({ output: 'headgate', code: 0 });
  });
});
