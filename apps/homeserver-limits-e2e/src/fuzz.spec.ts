import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { call } from './testing/http-client.js';
import { LimitsProcess } from './testing/limits-process.js';
import { RandomRequests } from './testing/random-requests.js';

/** A million takes some minutes: HEADGATE_TEST_FUZZ_REQUESTS=1000000. */
const REQUESTS = Number(process.env['HEADGATE_TEST_FUZZ_REQUESTS'] ?? 20_000);
const SEED = Number(process.env['HEADGATE_TEST_FUZZ_SEED'] ?? 20_261_122);
const CONNECTIONS = 32;
const IDLE_MS = 500;
const LAST = 'GET /_matrix/client/versions HTTP/1.1\r\nHost: b.example\r\nConnection: close\r\n\r\n';
/** Beyond this, a connection hangs that the client has ended. */
const HANG_MS = 60_000;
const MIB = 1024 * 1024;
/** More would be a leak of over 100 bytes per request in the long run. */
const MAX_GROWTH_BYTES = 100 * MIB;

/** The answer to every question of the gateway: whose token it is, and what the user holds. */
const EVERYTHING = JSON.stringify({
  user_id: '@a:b.example',
  device_id: 'D',
  delayed_events: [],
  pushers: [],
  one_time_key_counts: {},
  account_data: { events: [] },
});

describe('random requests over raw sockets', () => {
  let upstream: Server;
  let limits: LimitsProcess;
  beforeAll(async () => {
    upstream = createServer((request, response) => {
      request
        .resume()
        .once('end', () => response.writeHead(request.url?.includes('login') ? 403 : 200).end(EVERYTHING));
      request.on('error', () => undefined);
    });
    upstream.on('clientError', (_error, socket) => socket.destroy());
    await new Promise<void>((listening) => upstream.listen(0, '127.0.0.1', listening));
    const { port } = upstream.address() as AddressInfo;
    limits = await LimitsProcess.start(
      `[server]\nname = "b.example"\ntrusted_proxies = ["127.0.0.1"]\n[gateway]\nupstream = "http://127.0.0.1:${port}"\n` +
        '[operator]\nlisten = "127.0.0.1:0"\n' +
        '[[rules]]\nname = "all"\non = ["message", "state", "join", "invite", "create_room", "upload"]\nby = "user"\nlimit = 1000000\nwindow = "1h"\n',
    );
  });
  afterAll(async () => {
    await limits?.dispose();
    upstream?.closeAllConnections();
    upstream?.close();
  });

  const metric = async (name: string): Promise<number> => {
    const text = (await call(limits.operatorUrl, 'GET', '/metrics')).bytes.toString();
    return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1]);
  };

  /**
   * Sends the bytes in two parts, and then a request that closes the connection, unless it becomes the body of a cut
   * one.
   * @returns everything that the gateway responds
   */
  function exchange(bytes: Buffer, splitAt: number): Promise<string> {
    const { hostname, port } = new URL(limits.url);
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    const socket = connect(Number(port), hostname);
    let received = '';
    socket.setEncoding('latin1').on('data', (text: string) => (received += text));
    socket.on('error', () => undefined);
    // The gateway waits for the rest of a body that never comes.
    socket.setTimeout(IDLE_MS, () => socket.end());
    const timer = setTimeout(() => {
      socket.destroy();
      reject(new Error(`the connection hangs after ${JSON.stringify(bytes.toString('latin1').slice(0, 2_000))}`));
    }, HANG_MS);
    socket.once('close', () => {
      clearTimeout(timer);
      resolve(received);
    });
    socket.write(bytes.subarray(0, splitAt));
    socket.write(bytes.subarray(splitAt));
    socket.write(LAST);
    return promise;
  }

  test(
    `cause no error of the gateway, no hang and no growth (${REQUESTS} requests, seed ${SEED})`,
    async () => {
      const random = new RandomRequests(SEED);
      const statuses = new Map<number, number>();
      const failures: string[] = [];
      let sent = 0;
      let warm = { bytes: 0, sockets: 0 };
      const measure = async () => ({
        bytes: await metric('process_resident_memory_bytes'),
        sockets: await metric('process_open_fds'),
      });
      const work = async () => {
        while (sent < REQUESTS) {
          const { bytes, requests } = random.connection();
          sent += requests;
          if (warm.bytes === 0 && sent > REQUESTS / 2) {
            warm = { bytes: 1, sockets: 0 };
            warm = await measure();
          }
          const received = await exchange(bytes, random.below(bytes.length + 1));
          for (const [, code] of received.matchAll(/^HTTP\/1\.1 (\d{3}) /gm)) {
            const status = Number(code);
            statuses.set(status, (statuses.get(status) ?? 0) + 1);
            // 501 is the response to an unknown transfer encoding.
            if (status >= 500 && status !== 501)
              failures.push(`${status}: ${JSON.stringify(bytes.toString('latin1').slice(0, 2_000))}`);
          }
        }
      };
      await Promise.all(Array.from({ length: CONNECTIONS }, work));
      expect(failures.slice(0, 3)).toEqual([]);
      expect(limits.log.filter(({ msg }) => msg === 'a request failed')).toEqual([]);
      // The requests were not all refused at the door.
      for (const status of [200, 400, 401, 403, 404]) expect(statuses.get(status)).toBeGreaterThan(REQUESTS / 1_000);
      // The gateway notices the end of a connection a moment after its caller.
      while ((await metric('limits_buffered_body_bytes')) !== 0);
      const end = await measure();
      expect(end.bytes - warm.bytes).toBeLessThan(MAX_GROWTH_BYTES);
      expect(end.sockets).toBeLessThan(warm.sockets + CONNECTIONS);
      expect((await call(limits.url, 'GET', '/_matrix/client/versions')).status).toBe(200);
    },
    60_000 + REQUESTS * 10,
  );
});
