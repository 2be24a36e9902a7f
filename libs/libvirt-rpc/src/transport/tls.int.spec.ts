import { chown, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { freePort, PrivateLibvirtd } from '@headgate/testing';
import { subscribeToEvents, type DomainEventMessage } from '../events.js';
import { closeConnection, openLibvirt } from '../open-connection.js';
import { procedures } from '../procedures.js';
import { TestAuthority, whyNoCertificates } from '../testing/test-authority.js';

/** The user of a `PrivateLibvirtd`, which reads the certificates. */
const DAEMON_USER = 65_534;
const DOMAIN =
  "<domain type='qemu'><name>hgtest-tls</name><memory unit='MiB'>64</memory><vcpu>1</vcpu><os><type arch='x86_64' machine='pc'>hvm</type></os></domain>";
const missing = process.geteuid?.() === 0 ? whyNoCertificates : 'a daemon of its own needs root';
const describeWithDaemon = missing === undefined ? describe : describe.skip;

describeWithDaemon(
  `a real libvirtd that listens with TLS${missing === undefined ? '' : `: skipped, ${missing}`}`,
  () => {
    let authority: TestAuthority;
    let daemon: PrivateLibvirtd;
    let uri: string;

    beforeAll(async () => {
      authority = await TestAuthority.create();
      const pkiPath = await authority.clientFolder();
      const { cert, key } = await authority.sign('server', '127.0.0.1');
      const names = (await readdir(authority.folder)).map((name) => join(authority.folder, name));
      for (const path of [authority.folder, ...names]) await chown(path, DAEMON_USER, DAEMON_USER);
      const port = await freePort();
      daemon = await PrivateLibvirtd.create(
        'tls',
        '',
        [
          ...['listen_tls = 1', 'listen_tcp = 0', 'listen_addr = "127.0.0.1"', `tls_port = "${port}"`],
          ...[`key_file = "${key}"`, `cert_file = "${cert}"`, `ca_file = "${join(authority.folder, 'cacert.pem')}"`],
        ].join('\n'),
      );
      await daemon.start();
      uri = `qemu+tls://127.0.0.1:${port}/session?pkipath=${pkiPath}`;
    });
    afterAll(async () => {
      await daemon.close();
      await authority.remove();
    });

    test('answers calls and emits events', async () => {
      const connection = await openLibvirt(uri, { keepalive: { intervalMs: 2000, count: 2 } });
      expect(await connection.call(procedures.connectGetHostname, undefined)).toEqual({ hostname: 'tls' });
      const events = new PassThrough({ objectMode: true });
      await subscribeToEvents(connection, (message) => void events.write(message));
      const { domain } = await connection.call(procedures.domainDefineXmlFlags, { xml: DOMAIN, flags: 0 });
      expect(await daemon.domains()).toEqual(['hgtest-tls']);
      await connection.call(procedures.domainUndefineFlags, { domain, flags: 0 });
      const received: DomainEventMessage[] = [];
      for await (const message of events as AsyncIterable<DomainEventMessage>) if (received.push(message) === 2) break;
      expect(received.map(({ name, domain: { name: of } }) => [name, of])).toEqual([
        ['lifecycle', 'hgtest-tls'],
        ['lifecycle', 'hgtest-tls'],
      ]);
      await closeConnection(connection);
    });

    test('refuses a client without a certificate that its authority has signed', async () => {
      const other = await TestAuthority.create();
      const pkiPath = await other.clientFolder();
      const opening = openLibvirt(`${uri.replace(/pkipath=.*/, `pkipath=${pkiPath}`)}&no_verify=1`);
      await expect(opening).rejects.toMatchObject({ failure: 'unreachable', message: expect.stringMatching(/^TLS: /) });
      await other.remove();
    });
  },
);
