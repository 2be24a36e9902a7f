import 'reflect-metadata';
import { once } from 'node:events';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { join } from 'node:path';
import { connect } from 'node:tls';
import type { CheckView } from '@headgate/api-contracts';
import { ChallengeAnswers } from '@headgate/acme';
import { describeOnPebble, freePort, PrivatePebble } from '@headgate/testing';
import { HttpsRedirect } from '../identity/https-redirect.js';
import { ServiceCertificate } from '../platform/service-certificate.js';
import { Edge } from '../testing/edge.js';

const NAME = 'vms.headgate.test';
const KEY = 'zWNDZM6eQGHWpSRTPal5eIUYFTu7EajVIoguysqZ9wG44nMEtx3MUAsUDkMTQ12W';

describeOnPebble('a service that requests its certificate', () => {
  let edge: Edge;
  let pebble: PrivatePebble;
  let ports: { http: number; tls: number };
  const path = (name: string): string => join(edge.folder, name);

  beforeAll(async () => {
    ports = { http: await freePort(), tls: await freePort() };
    const external = { externalAccounts: { 'kid-1': KEY } };
    pebble = await PrivatePebble.start({ names: [NAME], httpPort: ports.http, tlsPort: ports.tls, ...external });
  });
  afterAll(() => pebble?.stop());
  beforeEach(() => (edge = new Edge()));
  afterEach(() => edge.close());

  async function open(acme: object, key = KEY): Promise<void> {
    writeFileSync(path('ca.pem'), pebble.trusted);
    writeFileSync(path('key'), `${key}\n`);
    const settings = {
      directory: pebble.directory,
      domains: [NAME],
      agreeToTerms: true,
      caFile: path('ca.pem'),
      externalAccount: { keyId: 'kid-1', keyFile: path('key') },
      ...acme,
    };
    const tls = { acme: settings, redirectFrom: `127.0.0.1:${ports.http}` };
    writeFileSync(path('headgate.yaml'), JSON.stringify({ tls }));
    await edge.open({}, ['--config', path('headgate.yaml'), '--listen', `127.0.0.1:${ports.tls}`]);
  }
  const check = async (): Promise<CheckView | undefined> => {
    const { json } = await edge.send('GET', '/api/doctor');
    return (json as unknown as CheckView[]).find(({ name }) => name === 'listener');
  };
  /** Polls a port that is not ours to signal. */
  const untilCheck = async (isRight: (found: CheckView | undefined) => boolean): Promise<CheckView | undefined> => {
    for (;;) {
      const found = await check();
      if (isRight(found)) return found;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  };
  const issuerOf = async (): Promise<unknown> => {
    const socket = connect({ host: '127.0.0.1', port: ports.tls, servername: NAME, ca: await pebble.root() });
    await once(socket, 'secureConnect');
    const { issuer } = socket.getPeerCertificate();
    socket.destroy();
    return issuer.CN;
  };

  test.each(['http-01', 'tls-alpn-01'])(
    'gets one with %s, uses it at once, and keeps it over a restart',
    async (challenge) => {
      await open({ challenge });
      await untilCheck((found) => found?.status === 'ok');
      expect(await issuerOf()).toMatch(/^Pebble Intermediate/);
      const outgoing = request({
        port: ports.tls,
        host: '127.0.0.1',
        servername: NAME,
        ca: await pebble.root(),
        agent: false,
        headers: { host: NAME },
      });
      outgoing.end();
      const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
      response.resume();
      expect(response.statusCode).not.toBe(403);
      for (const file of readdirSync(path('acme')))
        expect([file, statSync(path(`acme/${file}`)).mode & 0o777]).toEqual([file, 0o600]);
      if (challenge !== 'http-01') return;
      const before = readFileSync(path('acme/certificate.pem'), 'utf8');
      await edge.reopen({}, ['--config', path('headgate.yaml'), '--listen', `127.0.0.1:${ports.tls}`]);
      expect([(await check())?.status, readFileSync(path('acme/certificate.pem'), 'utf8')]).toEqual(['ok', before]);
    },
  );

  test('reports why there is none, serves nevertheless, and writes no key into the report', async () => {
    const wrong = Buffer.from('a wrong key of 32 bytes, not valid').toString('base64url');
    await open({}, wrong);
    const found = await untilCheck(
      (one) => /next attempt/.test(one?.message ?? '') && !one?.message.startsWith('The last attempt'),
    );
    expect(found).toMatchObject({ status: 'error', message: expect.stringContaining('The next attempt is at 20') });
    expect(JSON.stringify(found)).not.toContain(wrong);
    expect(edge.service.app.get(ServiceCertificate, { strict: false }).current?.leaf.subject).toBe(`CN=${NAME}`);
  });

  test('answers only known challenges of their name on the port of the redirect', async () => {
    await open({ challenge: 'tls-alpn-01' });
    await untilCheck((found) => found?.status === 'ok');
    const ask = async (host: string, token: string, method = 'GET') => {
      const target = `/.well-known/acme-challenge/${token}`;
      const outgoing = httpRequest({
        port: edge.service.app.get(HttpsRedirect, { strict: false }).port,
        host: '127.0.0.1',
        method,
        path: target,
        headers: { host },
      });
      outgoing.end();
      const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
      const chunks: Buffer[] = [];
      for await (const chunk of response) chunks.push(chunk as Buffer);
      return [response.statusCode, Buffer.concat(chunks).toString()];
    };
    const answers = edge.service.app.get(ChallengeAnswers, { strict: false });
    const remove = answers.addToken(NAME, 'known', 'known.thumbprint');
    expect(await ask(NAME, 'known')).toEqual([200, 'known.thumbprint']);
    for (const [host, token, method] of [
      [NAME, 'other'],
      [NAME, ''],
      [NAME, '../../etc/passwd'],
      ['evil.example', 'known'],
      [NAME, 'known', 'POST'],
    ] as const)
      expect([host, token, (await ask(host, token, method))[0]]).toEqual([host, token, 404]);
    remove();
    expect((await ask(NAME, 'known'))[0]).toBe(404);
  });
});
