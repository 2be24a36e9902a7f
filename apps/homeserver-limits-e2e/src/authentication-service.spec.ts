import { connect } from 'node:net';
import { call } from './testing/http-client.js';
import { LimitsProcess } from './testing/limits-process.js';
import { RecordingUpstream } from './testing/recording-upstream.js';

const FORM = 'application/x-www-form-urlencoded';
const rule = (name: string, on: string, by: string, limit: number, more = '') =>
  `[[rules]]\nname = "${name}"\non = ["${on}"]\nby = "${by}"\nlimit = ${limit}\nwindow = "1h"\n${more}\n`;

const RULES =
  rule('passwords', 'auth_login', 'account_source', 2, 'block = { after = 2, for = "2h" }') +
  rule('mails', 'auth_recovery', 'recipient', 1) +
  rule('tokens', 'oauth_token', 'server', 1) +
  rule('codes', 'device_link', 'source', 2, 'shadow = true');

/** The answers are those of the Matrix Authentication Service, by its source: it has no program for the tests. */
describe.each([1, 2])('in front of an authentication service, with %i workers', (workers) => {
  let upstream: RecordingUpstream;
  let limits: LimitsProcess;
  beforeAll(async () => {
    upstream = await RecordingUpstream.listen();
    upstream.respond = ({ method }, response) => {
      const body = upstream.last.body.toString('utf8');
      const isRight = method === 'POST' && body.includes('password=right');
      if (isRight || upstream.last.target === '/recover') response.writeHead(303, { Location: '/' });
      response.end('<html lang="en"></html>');
    };
    limits = await LimitsProcess.start(
      `[server]\nname = "b.example"\nworkers = ${workers}\ntrusted_proxies = ["127.0.0.1"]\n` +
        `[gateway]\nupstream = "${upstream.url}"\n[operator]\nlisten = "127.0.0.1:0"\n${RULES}`,
    );
  });
  afterAll(async () => {
    await limits.dispose();
    await upstream.close();
  });

  const post = async (target: string, body: string, from = '203.0.113.1') =>
    (await call(limits.url, 'POST', target, { body, from, headers: { 'Content-Type': FORM } })).status;
  const login = (username: string, password: string, from?: string) =>
    post('/login?kind=x', `csrf=a%2Bb&username=${encodeURIComponent(username)}&password=${password}`, from);

  test('forwards forms as they are', async () => {
    expect(await login('éva', 'right')).toBe(303);
    expect(upstream.last.body.toString('utf8')).toBe('csrf=a%2Bb&username=%C3%A9va&password=right');
    expect(upstream.last.rawHeaders.join('\n').toLowerCase()).toContain(`content-type\n${FORM}`);
    expect(upstream.last.target).toBe('/login?kind=x');
  });

  test('refuses wrong passwords before they are verified, however the account is spelled', async () => {
    expect([await login('nora', 'wrong'), await login('@Nora:b.example', 'wrong')]).toEqual([200, 200]);
    const before = upstream.countOf('/login');
    expect(await login('NORA', 'right')).toBe(429);
    expect(upstream.countOf('/login')).toBe(before);
    expect([await login('nora', 'right', '203.0.113.2'), await login('ida', 'right')]).toEqual([303, 303]);
    const refusals = async () => (await call(limits.operatorUrl, 'GET', '/refusals')).body.refusals;
    // A worker reports it just after its response.
    let [refusal] = await refusals();
    while (refusal === undefined) [refusal] = await refusals();
    expect(refusal).toMatchObject({
      rule: 'passwords',
      key: 'user:nora 203.0.113.1',
      event: 'auth_login',
      path: '/login',
    });
  });

  test('verifies no more passwords of parallel guesses than the limit', async () => {
    const before = upstream.countOf('/login');
    const statuses = await Promise.all(Array.from({ length: 20 }, () => login('zoe', 'wrong')));
    expect(statuses.filter((status) => status === 200)).toHaveLength(2);
    expect(upstream.countOf('/login') - before).toBe(2);
  });

  test('counts a wrong password of a caller who does not wait for the answer', async () => {
    const respond = upstream.respond;
    const { promise: asked, resolve } = Promise.withResolvers<() => void>();
    upstream.respond = (_request, response) => resolve(() => response.end('<html lang="en"></html>'));
    const body = 'csrf=a&username=gone&password=wrong';
    const socket = connect(Number(new URL(limits.url).port), '127.0.0.1');
    socket.write(
      `POST /login HTTP/1.1\r\nHost: b\r\nX-Forwarded-For: 203.0.113.1\r\nContent-Type: ${FORM}\r\n` +
        `Content-Length: ${body.length}\r\n\r\n${body}`,
    );
    const answer = await asked;
    socket.destroy();
    upstream.respond = respond;
    expect(await login('gone', 'wrong')).toBe(200);
    answer();
    expect(await login('gone', 'right')).toBe(429);
  });

  test.each(['/login/', '/%6cogin', '//login', '/login%2f', '/login%3f'])('counts %s as well', async (target) => {
    const user = `spelled${encodeURIComponent(target).toLowerCase()}`;
    const guess = () => post(target, `csrf=a&username=${encodeURIComponent(user)}&password=wrong`);
    expect([await guess(), await guess(), await guess()]).toEqual([200, 200, 429]);
  });

  test('sends one mail to an address, takes a token of all, and only reports in shadow', async () => {
    const sent = () => upstream.last.rawHeaders.join('\n').toLowerCase();
    expect(await post('/recover', 'email=ida%40b.example')).toBe(303);
    expect(sent()).toContain(`content-type\n${FORM}`);
    expect([await post('/recover', 'email=nora%40b.example'), await post('/recover', 'email=Nora@b.example')]).toEqual([
      303, 429,
    ]);
    expect([await post('/oauth2/token', 'grant_type=x'), await post('/oauth2/token', 'grant_type=x')]).toEqual([
      200, 429,
    ]);
    expect(sent()).toContain(`content-type\n${FORM}`);
    const link = async () => (await call(limits.url, 'GET', '/link?code=ABCDEF', { from: '203.0.113.1' })).status;
    expect([await link(), await link(), await link()]).toEqual([200, 200, 200]);
    const { bytes } = await call(limits.operatorUrl, 'GET', '/metrics');
    expect(bytes.toString('utf8')).toContain('limits_decisions_total{rule="codes",outcome="shadow_refused"} 1');
  });
});
