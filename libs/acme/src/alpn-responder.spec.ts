import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { FixedClock } from '@headgate/testing';
import { AlpnResponder } from './alpn-responder.js';
import { ChallengeAnswers } from './challenge-answers.js';

describe('AlpnResponder, while a challenge waits', () => {
  let server: Server;
  let clock: FixedClock;
  let answers: ChallengeAnswers;
  let responder: AlpnResponder;
  let client: Socket;
  let received: Buffer[];

  beforeEach(async () => {
    received = [];
    server = createServer((socket) =>
      socket.on('data', (data: Buffer) => received.push(data) && socket.write('got it')),
    );
    clock = new FixedClock();
    answers = new ChallengeAnswers();
    responder = new AlpnResponder(server, answers, clock);
    answers.addCertificate('a.test', { cert: '', key: '' });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    client = connect((server.address() as AddressInfo).port, '127.0.0.1').on('error', () => undefined);
    await once(server, 'connection');
  });
  afterEach(async () => {
    responder.stop();
    client.destroy();
    server.close();
    await once(server, 'close');
  });

  test('hands other connections over with all their bytes', async () => {
    client.write('GET / HTTP/1.1\r\n\r\n');
    await once(client, 'data');
    expect(Buffer.concat(received).toString()).toBe('GET / HTTP/1.1\r\n\r\n');
    expect(clock.pending).toBe(0);
  });

  test('waits for a message that comes slowly, and drops the connection after ten seconds', async () => {
    // The header of a record of 512 bytes, and nothing else.
    client.write(Buffer.from([22, 3, 1, 2, 0]));
    const closed = once(client, 'close');
    clock.advance(10_000);
    await closed;
    expect([received, clock.pending]).toEqual([[], 0]);
  });

  test('leaves nothing behind when a client goes away', async () => {
    client.end();
    client.resume();
    await once(client, 'close');
    expect([received, clock.pending]).toEqual([[], 0]);
  });

  test('is out of the way afterwards', () => {
    responder.stop();
    const [own, ...others] = server.listeners('connection');
    expect([own === undefined, others]).toEqual([false, []]);
  });
});
