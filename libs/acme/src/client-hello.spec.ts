import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { connect } from 'node:tls';
import { protocolsOf } from './client-hello.js';

describe('protocolsOf', () => {
  let hello: Buffer;

  beforeAll(async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const options = {
      port: (server.address() as AddressInfo).port,
      servername: 'a.test',
      ALPNProtocols: ['h2', 'acme-tls/1'],
    };
    const socket = connect(options).on('error', () => undefined);
    const [accepted] = (await once(server, 'connection')) as [import('node:net').Socket];
    [hello] = (await once(accepted, 'data')) as [Buffer];
    socket.destroy();
    accepted.destroy();
    server.close();
  });

  test('reads the protocols of a real client', () => {
    expect(protocolsOf(hello)).toEqual(['h2', 'acme-tls/1']);
  });

  test('waits for the rest of a message that comes in parts', () => {
    for (let length = 0; length < hello.length; length++)
      expect(protocolsOf(hello.subarray(0, length))).toBeUndefined();
  });

  test('reads nothing from other content, and throws for none', () => {
    expect(protocolsOf(Buffer.from('GET / HTTP/1.1\r\n'))).toEqual([]);
    const random = (seed: number): number => (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fffffff;
    let state = 1;
    for (let round = 0; round < 2_000; round++) {
      const damaged = Buffer.from(hello);
      state = random(state);
      damaged[5 + (state % (hello.length - 5))] = (state >> 8) & 255;
      expect(Array.isArray(protocolsOf(damaged))).toBe(true);
    }
  });
});
