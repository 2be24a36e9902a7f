import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { connectSyslog, frame, type SyslogConnection } from './syslog-connection.js';
import { hasOpenssl, SyslogCertificate } from './testing/syslog-certificate.js';
import { until } from './testing/until.js';

const RUNNING = new AbortController().signal;
const MESSAGES = ['<86>1 - h a 1 b [c d="ä"] one', '<86>1 - h a 1 b [c d="\\]"] two'];

describe('a connection to a server of syslog', () => {
  const servers: Server[] = [];
  const sockets: Socket[] = [];
  let connection: SyslogConnection | undefined;
  let received = '';

  afterEach(() => {
    connection?.close();
    for (const socket of sockets.splice(0)) socket.destroy();
    for (const server of servers.splice(0)) server.close();
    [connection, received] = [undefined, ''];
  });

  const listen = async (server: Server, event = 'connection'): Promise<number> => {
    servers.push(server.listen(0, '127.0.0.1'));
    server.on(event, (socket: Socket) => {
      sockets.push(socket);
      socket.on('data', (data: Buffer) => (received += data.toString())).on('error', () => undefined);
    });
    await once(server, 'listening');
    return (server.address() as AddressInfo).port;
  };

  test('counts the bytes of each message over TCP', async () => {
    const port = await listen(createServer());
    connection = await connectSyslog({ host: '127.0.0.1', port, transport: 'tcp' }, RUNNING);
    await connection.send(MESSAGES);
    await until(
      () => received,
      (text) => text === `30 ${MESSAGES[0]}30 ${MESSAGES[1]}`,
    );
    expect(frame('ä')).toBe('2 ä');
  });

  test.each(['destroy', 'end'] as const)('notices that the server is gone after %s', async (method) => {
    const port = await listen(createServer());
    connection = await connectSyslog({ host: '127.0.0.1', port, transport: 'tcp' }, RUNNING);
    const ended = once(connection.ended, 'abort');
    await until(
      () => sockets.length,
      (count) => count === 1,
    );
    sockets[0]?.[method]();
    await ended;
    await expect(connection.send(MESSAGES)).rejects.toThrow();
  });

  test('fails where no server listens, and ends an attempt that is no longer wanted', async () => {
    const server = createServer();
    const port = await listen(server);
    servers.splice(0);
    await new Promise((resolve) => server.close(resolve));
    await expect(connectSyslog({ host: '127.0.0.1', port, transport: 'tcp' }, RUNNING)).rejects.toThrow('ECONNREFUSED');
    // It accepts, and never begins TLS.
    const silent = await listen(createServer());
    const stop = new AbortController();
    const attempt = connectSyslog({ host: '127.0.0.1', port: silent, transport: 'tls' }, stop.signal);
    stop.abort();
    await expect(attempt).rejects.toThrow('closed');
  });

  test('sends one datagram per message over UDP, and notices that nothing listens', async () => {
    const server = createSocket('udp4').bind(0, '127.0.0.1');
    await once(server, 'listening');
    const seen: string[] = [];
    server.on('message', (message) => seen.push(message.toString()));
    connection = await connectSyslog({ host: '127.0.0.1', port: server.address().port, transport: 'udp' }, RUNNING);
    await connection.send(MESSAGES);
    await until(
      () => seen.length,
      (count) => count === 2,
    );
    expect(seen).toEqual(MESSAGES);
    await new Promise<void>((resolve) => server.close(resolve));
    let failure: unknown;
    while (failure === undefined) await connection.send(['lost']).catch((error: Error) => (failure = error.message));
    expect(failure).toContain('ECONNREFUSED');
  });

  const withOpenssl = hasOpenssl ? describe : describe.skip;
  withOpenssl(`over TLS${hasOpenssl ? '' : ': needs openssl'}`, () => {
    let certificate: SyslogCertificate;
    beforeAll(() => (certificate = new SyslogCertificate()));
    afterAll(() => certificate.remove());

    test('sends to a server whose certificate the authority has signed, and to no other', async () => {
      const port = await listen(createTlsServer(certificate.pair), 'secureConnection');
      const server = { host: '127.0.0.1', port, transport: 'tls' } as const;
      await expect(connectSyslog(server, RUNNING)).rejects.toThrow('self-signed');
      connection = await connectSyslog({ ...server, ca: certificate.pair.cert }, RUNNING);
      await connection.send(MESSAGES);
      await until(
        () => received,
        (text) => text.endsWith('two'),
      );
      await expect(connectSyslog({ ...server, host: 'localhost', ca: certificate.pair.cert }, RUNNING)).rejects.toThrow(
        'altnames',
      );
    });
  });
});
