import 'reflect-metadata';
import { execFileSync, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { connect } from 'node:net';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import type { CheckView } from '@headgate/api-contracts';
import { WebSocket } from 'ws';
import { HttpsRedirect } from '../identity/https-redirect.js';
import { Edge } from '../testing/edge.js';
import { ServiceCertificate } from './service-certificate.js';

const canCertify = spawnSync('openssl', ['version']).status === 0;
const why = canCertify ? '' : ': skipped, openssl is not installed';

(canCertify ? describe : describe.skip)(`a service with a certificate${why}`, () => {
  let edge: Edge;
  const path = (name: string): string => join(edge.folder, name);

  /** A certificate for 127.0.0.1, and its key. */
  function create(name: string, days = '90'): void {
    const kind = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', days];
    const names = ['-subj', `/CN=${name}`, '-addext', 'subjectAltName=IP:127.0.0.1,DNS:localhost'];
    execFileSync('openssl', [...kind, ...names, '-keyout', path(`${name}.key`), '-out', path(`${name}.pem`)], {
      stdio: 'ignore',
    });
  }
  /** Makes a pair the current one, as a program that renews certificates does. */
  function use(name: string, files: readonly ('pem' | 'key')[] = ['pem', 'key']): void {
    for (const file of files) copyFileSync(path(`${name}.${file}`), path(`current.${file}`));
  }
  async function open(settings: object = {}): Promise<void> {
    const tls = { certificate: path('current.pem'), key: path('current.key'), ...settings };
    writeFileSync(path('headgate.yaml'), JSON.stringify({ tls, allowedHosts: ['vms.example.org'] }));
    await edge.open({}, ['--config', path('headgate.yaml')]);
  }

  beforeEach(() => {
    edge = new Edge();
    create('first');
    use('first');
  });
  afterEach(() => edge.close());

  const port = (): number => edge.service.port();

  async function get(target: string, headers: Record<string, string> = {}, method = 'GET'): Promise<IncomingMessage> {
    // The Host header is no name of the certificate.
    const verified = { ca: readFileSync(path('first.pem')), servername: 'localhost', agent: false } as const;
    const outgoing = request({ host: '127.0.0.1', port: port(), path: target, method, headers, ...verified });
    outgoing.end();
    const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
    response.resume();
    return response;
  }
  async function subject(): Promise<string | undefined> {
    const socket = connectTls({ host: '127.0.0.1', port: port(), rejectUnauthorized: false });
    await once(socket, 'secureConnect');
    const name = socket.getPeerCertificate().subject.CN;
    socket.destroy();
    return typeof name === 'string' ? name : undefined;
  }
  const check = async (): Promise<CheckView | undefined> => {
    const { json } = await edge.send('GET', '/api/doctor');
    return (json as unknown as CheckView[]).find(({ name }) => name === 'listener');
  };
  const renew = (): void => edge.service.app.get(ServiceCertificate, { strict: false }).reload();

  test('answers over TLS, to the users of this machine as without it', async () => {
    await open();
    expect((await get('/api/vms')).statusCode).toBe(200);
    expect((await get('/api/vms', { host: 'evil.example' })).statusCode).toBe(403);
  });

  test('answers nothing in the clear, and no old version of TLS', async () => {
    await open();
    const plain = connect(port(), '127.0.0.1').on('error', () => undefined);
    let answer = '';
    plain.on('data', (data) => (answer += data.toString('latin1')));
    plain.write('GET /api/vms HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await once(plain, 'close');
    expect(answer).not.toContain('HTTP/1.1 200');
    const old = connectTls({ host: '127.0.0.1', port: port(), rejectUnauthorized: false, maxVersion: 'TLSv1.1' });
    const [error] = (await once(old, 'error')) as [Error];
    expect(error.message).toMatch(/protocol/i);
  });

  test('opens consoles over TLS, and refuses them to pages that were loaded without it', async () => {
    await open();
    const socket = (origin: string) =>
      new WebSocket(`wss://127.0.0.1:${port()}/api/tty/default/db`, {
        ca: readFileSync(path('first.pem')),
        headers: { origin },
      });
    const opened = socket(`https://127.0.0.1:${port()}`);
    await once(opened, 'open');
    opened.close();
    const refused = socket(`http://127.0.0.1:${port()}`);
    const [, response] = (await once(refused, 'unexpected-response')) as [unknown, IncomingMessage];
    response.resume();
    expect(response.statusCode).toBe(403);
    const change = await get('/api/vms/default/web/start', { origin: `http://127.0.0.1:${port()}` }, 'POST');
    expect(change.statusCode).toBe(403);
  });

  test('uses renewed files for new connections, and keeps open ones', async () => {
    await open();
    const kept = connectTls({ host: '127.0.0.1', port: port(), rejectUnauthorized: false });
    await once(kept, 'secureConnect');
    create('second');
    use('second', ['pem']);
    renew();
    expect(await subject()).toBe('first');
    expect(await check()).toMatchObject({ status: 'warning', message: expect.stringContaining('does not belong') });
    use('second');
    renew();
    expect([await subject(), (await check())?.status]).toEqual(['second', 'ok']);
    kept.write('GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n');
    const [answer] = (await once(kept, 'data')) as [Buffer];
    expect(answer.toString('latin1')).toContain('HTTP/1.1 200');
    kept.destroy();
  });

  test('reports a certificate that expires soon', async () => {
    create('short', '3');
    use('short');
    await open();
    expect(await check()).toMatchObject({ status: 'warning', message: expect.stringMatching(/valid until \d{4}-/) });
  });

  test.each([
    [{ hsts: true }, 'max-age=15552000'],
    // The header would apply to all ports of the host.
    [{}, undefined],
  ])('with %j has the HSTS header %s', async (settings, header) => {
    await open(settings);
    expect((await get('/healthz')).headers['strict-transport-security']).toBe(header);
  });

  describe('that redirects from a second port', () => {
    const ask = async (target: string, host: string, method = 'GET'): Promise<IncomingMessage> => {
      const plain = edge.service.app.get(HttpsRedirect, { strict: false }).port;
      const outgoing = httpRequest({ host: '127.0.0.1', port: plain, path: target, method, headers: { host } });
      outgoing.end();
      const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
      response.resume();
      return response;
    };
    beforeEach(() => open({ redirectFrom: '127.0.0.1:0' }));

    test('leads to the same path and query at the name of the request', async () => {
      const { statusCode, headers } = await ask('/vms?q=a%20b', 'vms.example.org:80');
      expect([statusCode, headers.location]).toEqual([308, `https://vms.example.org:${port()}/vms?q=a%20b`]);
    });

    test.each([
      ['/', 'evil.example', 403, undefined],
      ['/', 'vms.example.org@evil.example', 403, undefined],
      ['//evil.example/', '127.0.0.1', 308, '//evil.example/'],
      ['http://evil.example/', '127.0.0.1', 308, '/'],
    ])('leads from %s at %s nowhere else', async (target, host, status, end) => {
      const { statusCode, headers } = await ask(target, host);
      const location = end === undefined ? undefined : `https://127.0.0.1:${port()}${end}`;
      expect([statusCode, headers.location]).toEqual([status, location]);
    });

    test('refuses changes, which were sent in the clear', async () => {
      const { statusCode, headers } = await ask('/api/vms/default/web/start', '127.0.0.1', 'POST');
      expect([statusCode, headers.location]).toEqual([403, undefined]);
    });
  });
});

describe('a service without a certificate', () => {
  test.each([
    [['--listen', '127.0.0.1:0'], {}, 'ok'],
    [['--listen', '0.0.0.0:0'], {}, 'warning'],
    [['--listen', '0.0.0.0:0'], { SVC_TRUSTED_PROXIES: '10.0.0.1' }, 'ok'],
  ])('that listens with %j and %j has the check %s', async (args, env, status) => {
    const edge = await new Edge().open(env, args);
    try {
      const { json } = await edge.send('GET', '/api/doctor');
      expect((json as unknown as CheckView[]).find(({ name }) => name === 'listener')?.status).toBe(status);
    } finally {
      await edge.close();
    }
  });
});
