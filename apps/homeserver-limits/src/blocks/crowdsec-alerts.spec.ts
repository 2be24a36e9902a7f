import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { jest } from '@jest/globals';
import { AddressBlocks } from '../state/address-blocks.js';
import { AlertSender } from './alert-sender.js';
import { CrowdsecAlerts } from './crowdsec-alerts.js';

interface Received {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly body: unknown;
}

describe('CrowdsecAlerts', () => {
  let server: Server;
  let received: Received[];
  let blocks: AddressBlocks;
  let alerts: CrowdsecAlerts;
  /** The tokens that the local API accepts. */
  let tokens: Set<string>;
  let failures: number[];
  let logins: number;

  beforeEach(async () => {
    [received, tokens, failures, logins] = [[], new Set(), [], 0];
    server = createServer((request, response) => {
      let text = '';
      request.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      request.once('end', () => {
        const body = text === '' ? undefined : (JSON.parse(text) as { password?: string });
        if (request.url === '/v1/watchers/login') {
          // A real one also refuses programs without a version.
          const isNamed = /^[^/]+\/[^/]+$/.test(request.headers['user-agent'] ?? '');
          if (body?.password !== 'secret' || !isNamed)
            return void response.writeHead(401).end('{"message":"incorrect"}');
          tokens.add(`token-${++logins}`);
          return void response.end(JSON.stringify({ code: 200, expire: 'x', token: `token-${logins}` }));
        }
        if (!tokens.has(request.headers.authorization?.slice('Bearer '.length) ?? ''))
          return void response.writeHead(401).end('{"message":"cookie token is empty"}');
        received.push({ method: request.method, url: request.url, body });
        response.writeHead(failures.shift() ?? (request.method === 'POST' ? 201 : 200)).end('["1"]');
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    blocks = new AddressBlocks({ isInForce: () => true });
    alerts = alertsWith('secret');
  });
  afterEach(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  const alertsWith = (password: string) =>
    new CrowdsecAlerts({
      url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      machine: 'gateway',
      password: () => password,
      blocks,
    });
  const block = (key: string, rule = 'logins') =>
    blocks.note({ rule, by: 'source', key, limit: 1, windowMs: 1, reason: 'block', retryAfterMs: 3_600_000 });
  const sent = () =>
    received.flatMap(({ method, url, body }) =>
      method === 'POST' ? (body as { source: { value: string } }[]).map(({ source }) => source.value) : [url],
    );

  test('sends each block once, as an alert with its decision', async () => {
    expect(await alerts.push()).toBe(false);
    block('192.0.2.1');
    block('2001:db8:1:2::/64');
    expect([await alerts.push(), await alerts.push()]).toEqual([true, false]);
    expect(received.map(({ method, url }) => `${method} ${url}`)).toEqual(['POST /v1/alerts']);
    const [first, second] = received[0]?.body as object[];
    const time = expect.stringMatching(/^\d{4}-.*Z$/) as string;
    const decision = { origin: blocks.origin, scenario: 'homeserver-limits/logins', type: 'ban' };
    expect(first).toEqual({
      scenario: 'homeserver-limits/logins',
      scenario_hash: '',
      scenario_version: '',
      message: 'Ip 192.0.2.1 is blocked by the rule logins',
      events: [],
      events_count: 1,
      capacity: 0,
      leakspeed: '0s',
      start_at: time,
      stop_at: time,
      simulated: false,
      remediation: true,
      source: { scope: 'Ip', value: '192.0.2.1', ip: '192.0.2.1' },
      decisions: [
        {
          ...decision,
          scope: 'Ip',
          value: '192.0.2.1',
          duration: expect.stringMatching(/^(?:1h0m0|59m\d+(?:\.\d+)?)s$/),
        },
      ],
    });
    expect(second).toMatchObject({ source: { scope: 'Range', range: '2001:db8:1:2::/64' } });
    expect(logins).toBe(1);
  });

  test('deletes the decision of a lifted block before it sends the next one', async () => {
    block('192.0.2.1');
    await alerts.push();
    blocks.lift('logins', '192.0.2.1');
    block('192.0.2.1', 'mails');
    await alerts.push();
    const path = `/v1/decisions?value=192.0.2.1&scenario=homeserver-limits%2Flogins&type=ban&origin=${blocks.origin}`;
    expect(sent()).toEqual(['192.0.2.1', path, '192.0.2.1']);
  });

  test('sends everything again that the local API did not accept', async () => {
    failures.push(500);
    block('192.0.2.1');
    await expect(alerts.push()).rejects.toThrow('the local API answered 500 to POST /v1/alerts');
    block('192.0.2.2');
    await alerts.push();
    expect(sent()).toEqual(['192.0.2.1', '192.0.2.1', '192.0.2.2']);
  });

  test('logs in again when its token has expired, and no more than once for a request', async () => {
    block('192.0.2.1');
    await alerts.push();
    tokens.clear();
    block('192.0.2.2');
    await alerts.push();
    expect([sent(), logins]).toEqual([['192.0.2.1', '192.0.2.2'], 2]);
    failures.push(401, 401, 401);
    block('192.0.2.3');
    await expect(alerts.push()).rejects.toThrow('answered 401');
    expect(logins).toBe(3);
  });

  test('says how to create its machine', async () => {
    alerts = alertsWith('wrong');
    block('192.0.2.1');
    await expect(alerts.push()).rejects.toThrow('not accepted (401); create it with cscli machines add gateway');
  });

  test('sends a hundred alerts in a request', async () => {
    for (let i = 0; i < 201; i++) block(`10.0.0.${i}`);
    await alerts.push();
    expect(received.map(({ body }) => (body as object[]).length)).toEqual([100, 100, 1]);
  });
});

describe('AlertSender', () => {
  test('reports a failure once, and that it is over', async () => {
    jest.useFakeTimers();
    const logged: string[] = [];
    const log = {
      info: (text: string) => void logged.push(text),
      error: (_: object, text: string) => void logged.push(text),
    };
    const answers = [new Error('no'), new Error('no'), false, true, true];
    let pushes = 0;
    const push = () => {
      const answer = answers[pushes++] ?? false;
      return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
    };
    const sender = new AlertSender({ push }, log as never);
    sender.onApplicationBootstrap();
    await jest.advanceTimersByTimeAsync(60_000);
    sender.onApplicationShutdown();
    jest.useRealTimers();
    expect(pushes).toBeGreaterThan(5);
    expect(logged).toEqual([
      'the blocks could not be sent to CrowdSec; they are sent later',
      'the blocks were sent to CrowdSec again',
    ]);
  });
});
