import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { call } from './testing/http-client.js';
import { LimitsProcess } from './testing/limits-process.js';
import { RecordingUpstream } from './testing/recording-upstream.js';

const LOGIN = '/_matrix/client/v3/login';
const CONNECTIONS = 16;
/** An eighth of the connections. */
const ABANDONED = 2;
const ATTACKER = '192.0.2.1';
const OTHER = '192.0.2.2';

/** A login counts, so the homeserver carries it out even for a caller who is gone. */
describe('a source that sends logins and hangs up at once', () => {
  let upstream: RecordingUpstream;
  let limits: LimitsProcess;
  let waiting: ServerResponse[];
  let onLogin: () => void;

  beforeEach(async () => {
    upstream = await RecordingUpstream.listen();
    waiting = [];
    upstream.respond = ({ url }, response) => {
      if (url !== LOGIN) return void response.end('{}');
      waiting.push(response);
      onLogin();
    };
    const server = `name = "b.example"\ntrusted_proxies = ["127.0.0.1"]\nconnections_per_source = ${CONNECTIONS}`;
    limits = await LimitsProcess.start(`[server]\n${server}\n[gateway]\nupstream = "${upstream.url}"\n`);
  });
  afterEach(async () => {
    await limits.dispose();
    await upstream.close();
  });

  /** Hangs up when the homeserver has received the login. Its account is another one each time. */
  async function abandon(from: string): Promise<void> {
    const { hostname, port } = new URL(limits.url);
    const received = new Promise<void>((resolve) => (onLogin = resolve));
    const socket = connect(Number(port), hostname);
    const body = JSON.stringify({
      type: 'm.login.password',
      identifier: { user: `u${waiting.length}` },
      password: 'x',
    });
    const head = `POST ${LOGIN} HTTP/1.1\r\nHost: b\r\nX-Forwarded-For: ${from}\r\nContent-Length: ${body.length}`;
    socket.write(`${head}\r\n\r\n${body}`);
    await received;
    socket.destroy();
    await once(socket, 'close');
    // By this response, the gateway has noticed that the caller is gone.
    await call(limits.url, 'GET', '/_matrix/client/versions');
  }

  /** Answers the next login as soon as it arrives. */
  async function login(from: string): Promise<number> {
    onLogin = () => waiting.pop()?.end('{}');
    return (await call(limits.url, 'POST', LOGIN, { from, body: { type: 'm.login.token', token: 'x' } })).status;
  }

  async function refusals(): Promise<number> {
    const metrics = (await call(limits.url, 'GET', '/metrics')).bytes.toString();
    return Number(/^limits_refused_after_hangups_total (\d+)$/m.exec(metrics)?.[1]);
  }

  test('has few of them carried out at the same time, and keeps no other source out', async () => {
    for (let i = 0; i < ABANDONED; i++) await abandon(ATTACKER);
    expect([await login(ATTACKER), await login(ATTACKER)]).toEqual([429, 429]);
    expect(waiting).toHaveLength(ABANDONED);
    expect(await login(OTHER)).toBe(200);
    expect(await refusals()).toBe(2);
  });

  test('is served again when the homeserver has responded to one of them', async () => {
    for (let i = 0; i < ABANDONED; i++) await abandon(ATTACKER);
    const [first] = waiting.splice(0, 1);
    const answered = once(first!, 'close');
    first!.end('{}');
    await answered;
    let status = 429;
    while (status === 429) status = await login(ATTACKER);
    expect(status).toBe(200);
  });

  test('may have as many requests as it has connections while it waits for their responses', async () => {
    const received = Promise.withResolvers<void>();
    onLogin = () => waiting.length === CONNECTIONS && received.resolve();
    const logins = Array.from({ length: CONNECTIONS }, () =>
      call(limits.url, 'POST', LOGIN, { from: ATTACKER, body: { type: 'm.login.token', token: 'x' } }),
    );
    await received.promise;
    for (const response of waiting) response.end('{}');
    expect((await Promise.all(logins)).map(({ status }) => status)).toEqual(Array(CONNECTIONS).fill(200));
    expect(await refusals()).toBe(0);
  });
});
