import { type AddressInfo, type Server, type Socket, createServer } from 'node:net';
import { type RateRefusal, RateWindows } from '@headgate/limits-core';
import { RedisWindows } from './redis-windows.js';

/** Answers RESP commands with what it is told: enough to see what goes over the wire. */
async function listen(
  answer: (command: string[]) => string,
): Promise<{ server: Server; sockets: Socket[]; url: string }> {
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket);
    let buffer = '';
    socket.on('error', () => undefined);
    socket.on('data', (chunk) => {
      buffer += chunk.toString();
      for (let command = take(); command; command = take()) socket.write(answer(command));
    });
    function take(): string[] | undefined {
      const count = /^\*(\d+)\r\n/.exec(buffer);
      if (!count) return undefined;
      let rest = buffer.slice(count[0].length);
      const words: string[] = [];
      for (let left = Number(count[1]); left > 0; left--) {
        const length = /^\$(\d+)\r\n/.exec(rest);
        if (!length || rest.length < length[0].length + Number(length[1]) + 2) return undefined;
        words.push(rest.slice(length[0].length, length[0].length + Number(length[1])));
        rest = rest.slice(length[0].length + Number(length[1]) + 2);
      }
      buffer = rest;
      return words;
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { server, sockets, url: `redis://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

const turn = () => new Promise<undefined>((next) => setImmediate(() => next(undefined)));

describe('RedisWindows on the wire', () => {
  test('asks by digest first, sends the script when the server does not know it, and reads the refusal', async () => {
    const seen: string[][] = [];
    const { server, sockets, url } = await listen((command) => {
      seen.push(command);
      if (command[0] === 'EVALSHA') return '-NOSCRIPT No matching script.\r\n';
      if (command[0] === 'EVAL') return '*2\r\n:1\r\n:1234\r\n';
      return '+OK\r\n';
    });
    const windows = RedisWindows.open({ url, timeoutMs: 10_000, prefix: 'test' });
    const ring = new RateWindows().define('ring', { limit: 10, windowMs: 60_000 });
    let refusal: RateRefusal | undefined;
    // The connection is being made: until it is there, calls reject at once.
    while (refusal === undefined) {
      refusal = await windows.count(ring, '@a:b').catch(() => turn());
    }
    expect(refusal).toEqual({ granted: false, rate: 'ring', limit: 10, retryAfterMs: 1234 });
    const [byDigest, whole] = seen.filter(([name]) => name!.startsWith('EVAL'));
    expect(byDigest!.slice(2, 5)).toEqual(['1', '{test}:ring:@a:b', 'count']);
    expect(byDigest!.slice(6)).toEqual(['10', '60000']);
    expect(whole![0]).toBe('EVAL');
    await windows.close();
    for (const socket of sockets) socket.destroy();
    await new Promise((closed) => server.close(closed));
  });
});
