import { PassThrough } from 'node:stream';
import { ExpectStream } from './expect-stream.mjs';

describe('ExpectStream', () => {
  test('matches earlier and later output', async () => {
    const stream = new PassThrough();
    const console = new ExpectStream(stream, 'the console');
    stream.write('booting\r\nlog');
    await console.expect(/booting/);
    const later = console.expect(/login: /);
    stream.write('in: ');
    expect((await later)[0]).toBe('login: ');
  });

  test('does not match the same text twice', async () => {
    const stream = new PassThrough();
    const console = new ExpectStream(stream, 'the console');
    stream.write('login: ');
    await console.expect(/login: /);
    await expect(console.expect(/login: /, 20)).rejects.toThrow('20 ms passed');
  });

  test('reports the pattern, the stream and its last output', async () => {
    const stream = new PassThrough();
    const console = new ExpectStream(stream, 'the console');
    stream.write('Kernel panic');
    await expect(console.expect(/login: /, 20)).rejects.toThrow(
      'Waited for /login: / on the console, but 20 ms passed. Its last output: "Kernel panic"',
    );
  });

  test('fails immediately when the stream ends', async () => {
    const stream = new PassThrough();
    const console = new ExpectStream(stream, 'the console');
    const waiting = console.expect(/login: /, 60_000);
    stream.destroy();
    await expect(waiting).rejects.toThrow('it ended');
  });

  test('distinguishes the output of a command from its echo', async () => {
    const stream = new PassThrough();
    const console = new ExpectStream(stream, 'the console');
    const running = console.shell('id -un');
    // A PassThrough returns the typed text, like an echoing terminal.
    stream.write('\r\n[begin]\r\nheadgate\r\n[done:0]\r\n$ ');
    expect(await running).toEqual({ output: 'headgate', code: 0 });
  });
});
