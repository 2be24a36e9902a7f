import { once } from 'node:events';
import { readFile, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createServer, type Server, type TLSSocket } from 'node:tls';
import { openLibvirt } from '../open-connection.js';
import { procedures } from '../procedures.js';
import { FakeDaemon } from '../testing/fake-daemon.js';
import { TestAuthority, whyNoCertificates } from '../testing/test-authority.js';

const describeWithCertificates = whyNoCertificates === undefined ? describe : describe.skip;
const why = whyNoCertificates === undefined ? '' : `: skipped, ${whyNoCertificates}`;

describeWithCertificates(`a daemon that listens with TLS${why}`, () => {
  let authority: TestAuthority;
  let pkiPath: string;
  let server: Server | undefined;
  const daemons: FakeDaemon[] = [];
  const opened: (string | null)[] = [];
  const clients: (string | undefined)[] = [];

  beforeAll(async () => {
    authority = await TestAuthority.create();
    pkiPath = await authority.clientFolder();
  });
  afterAll(() => authority.remove());

  beforeEach(() => {
    for (const list of [daemons, opened, clients]) list.length = 0;
  });
  afterEach(async () => {
    for (const { transport } of daemons) transport.destroy();
    const closed = server && once(server, 'close');
    server?.close();
    await closed;
  });

  const accept = (socket: TLSSocket): void => {
    clients.push(socket.getPeerCertificate().subject?.CN as string | undefined);
    const daemon = new FakeDaemon();
    daemons.push(daemon);
    daemon.answer(procedures.authList, () => []);
    daemon.answer(procedures.connectOpen, ({ name }) => void opened.push(name));
    socket.write(Buffer.of(1));
    socket.pipe(daemon.transport).pipe(socket);
  };

  const listen = async (
    onClient: (socket: TLSSocket) => void = accept,
    { signer = authority, address = '127.0.0.1', isOld = false } = {},
  ): Promise<string> => {
    const { cert, key } = await signer.sign('server', address, isOld);
    server = createServer({
      cert: await readFile(cert),
      key: await readFile(key),
      ca: await readFile(join(authority.folder, 'cacert.pem')),
      requestCert: true,
    });
    server.on('secureConnection', (socket) => {
      socket.on('error', () => undefined);
      onClient(socket);
    });
    server.on('tlsClientError', () => undefined);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return `qemu+tls://127.0.0.1:${(server.address() as AddressInfo).port}/system?pkipath=${pkiPath}`;
  };

  test('opens its driver with the certificate of the client', async () => {
    const connection = await openLibvirt(await listen());
    expect({ opened, clients }).toEqual({ opened: ['qemu:///system'], clients: ['client'] });
    connection.close();
  });

  test.each<[string, (socket: TLSSocket) => void]>([
    ['closes the connection', (socket) => socket.end()],
    ['sends something else than its consent', (socket) => socket.write(Buffer.of(0))],
  ])('reports a refusal if it %s', async (_how, refuse) => {
    await expect(openLibvirt(await listen(refuse))).rejects.toMatchObject({
      failure: 'unreachable',
      message: expect.stringMatching(/^TLS: 127\.0\.0\.1:\d+: libvirt refuses the certificate or the address of this/),
    });
  });

  test('is not trusted with the certificate of another host, unless that is not checked', async () => {
    const uri = await listen(accept, { address: '127.0.0.2' });
    await expect(openLibvirt(uri)).rejects.toMatchObject({
      failure: 'unreachable',
      message: expect.stringContaining("IP: 127.0.0.1 is not in the cert's list"),
    });
    expect(opened).toEqual([]);
    (await openLibvirt(`${uri}&no_verify=1`)).close();
    expect(opened).toEqual(['qemu:///system']);
  });

  test('is trusted with an old certificate that names its address as the common name', async () => {
    (await openLibvirt(await listen(accept, { isOld: true }))).close();
    expect(opened).toEqual(['qemu:///system']);
  });

  test('is not trusted with the certificate of another authority', async () => {
    const other = await TestAuthority.create();
    await expect(openLibvirt(await listen(accept, { signer: other }))).rejects.toMatchObject({
      failure: 'unreachable',
      message: expect.stringMatching(/^TLS: .*certificate/),
    });
    await other.remove();
    expect(opened).toEqual([]);
  });

  test('has its time to accept the client', async () => {
    await expect(openLibvirt(await listen(() => undefined), { timeoutMs: 300 })).rejects.toMatchObject({
      failure: 'timeout',
    });
  });

  test('is not connected to without the files that the URI names', async () => {
    const uri = await listen();
    await rm(join(pkiPath, 'clientkey.pem'));
    await expect(openLibvirt(uri)).rejects.toMatchObject({
      failure: 'unreachable',
      message: `TLS: the file ${join(pkiPath, 'clientkey.pem')} can't be read`,
    });
    expect(clients).toEqual([]);
  });
});
