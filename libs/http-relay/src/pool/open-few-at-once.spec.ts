import { once } from 'node:events';
import { Agent, createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { openFewAtOnce } from './open-few-at-once.js';
import { failureStatusOf, UpstreamBusy, UpstreamTimeout } from './upstream-errors.js';

describe('an agent that opens few connections at the same time', () => {
  let server: Server;
  let agent: Agent;
  let opener: ReturnType<typeof openFewAtOnce>;
  let mostOpening: number;
  beforeEach(async () => {
    mostOpening = 0;
    server = createServer((_request, response) => {
      mostOpening = Math.max(mostOpening, opener.openingCount);
      response.end('ok');
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    agent = new Agent({ keepAlive: true, maxSockets: Infinity });
    opener = openFewAtOnce(agent, 'connect');
  });
  afterEach(async () => {
    opener.close();
    agent.destroy();
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });

  const open = () => request({ host: '127.0.0.1', port: (server.address() as AddressInfo).port, agent });
  const ask = () =>
    new Promise<number | undefined>((resolve, reject) => {
      open()
        .once('response', (response) => {
          mostOpening = Math.max(mostOpening, opener.openingCount);
          response.resume().once('end', () => resolve(response.statusCode));
        })
        .once('error', reject)
        .end();
    });

  test('serves all requests that arrive at the same time', async () => {
    const statuses = Promise.all(Array.from({ length: 200 }, ask));
    expect([opener.waitingCount, opener.openingCount]).toEqual([200, 24]);
    expect(new Set(await statuses)).toEqual(new Set([200]));
    expect(mostOpening).toBeLessThanOrEqual(24);
    expect(opener.waitingCount).toBe(0);
  });

  test('serves those that wait behind a request that was given up', async () => {
    const abandoned = Array.from({ length: 50 }, () => open().on('error', () => undefined));
    for (const one of abandoned) one.destroy();
    expect(await ask()).toBe(200);
  });

  test('fails the requests that wait when it is closed, and later ones', async () => {
    const failures = Promise.allSettled(Array.from({ length: 30 }, ask));
    opener.close();
    const late = Promise.allSettled([ask()]);
    const reasons = [...(await failures), ...(await late)].map((one) =>
      one.status === 'rejected' ? (one.reason as Error).name : one.status,
    );
    expect(reasons).toEqual([...Array<string>(30).fill('UpstreamTimeout'), 'UpstreamBusy']);
  });
});

test.each([
  ['a timeout', new UpstreamTimeout(), 504],
  ['too many requests', new UpstreamBusy(), 503],
  ['a refused connection', new Error('refused'), 502],
])('the failure of an upstream with %s has its own status', (_what, error, status) => {
  expect(failureStatusOf(error)).toBe(status);
});
