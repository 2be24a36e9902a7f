import { createPrivateKey, X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { connect, createServer, type TLSSocket } from 'node:tls';
import { createSelfSignedCertificate } from './self-signed-certificate.js';

const NOW_MS = Date.now();

test('a certificate has its name, its key, its purpose and ten years', () => {
  const { key, certificate } = createSelfSignedCertificate('headgate', NOW_MS);
  const parsed = new X509Certificate(certificate);
  expect(parsed.subject).toBe('CN=headgate');
  expect(parsed.keyUsage).toEqual(['1.3.6.1.5.5.7.3.2']);
  expect(parsed.verify(parsed.publicKey)).toBe(true);
  expect(parsed.checkPrivateKey(createPrivateKey(key))).toBe(true);
  expect(Date.parse(parsed.validFrom)).toBeLessThan(NOW_MS);
  expect(Date.parse(parsed.validTo) - NOW_MS).toBeGreaterThan(9.9 * 365 * 24 * 3600 * 1000);
});

test('two certificates have different keys and serial numbers', () => {
  const [one, other] = [1, 2].map(() => createSelfSignedCertificate('headgate', NOW_MS));
  expect(one?.key).not.toBe(other?.key);
  const serials = [one, other].map((it) => new X509Certificate(it?.certificate ?? '').serialNumber);
  expect(new Set(serials).size).toBe(2);
});

test('a server receives it in a handshake', async () => {
  const own = createSelfSignedCertificate('server', NOW_MS);
  const client = createSelfSignedCertificate('headgate', NOW_MS);
  const server = createServer({ key: own.key, cert: own.certificate, requestCert: true, rejectUnauthorized: false });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const accepted = once(server, 'secureConnection') as Promise<[TLSSocket]>;
  const socket = connect({
    port,
    host: '127.0.0.1',
    key: client.key,
    cert: client.certificate,
    // That of the server has the purpose of a client as well.
    rejectUnauthorized: false,
  });
  await once(socket, 'secureConnect');
  const [peer] = await accepted;
  expect(peer.getPeerCertificate().subject.CN).toBe('headgate');
  socket.destroy();
  peer.destroy();
  server.close();
  await once(server, 'close');
});
