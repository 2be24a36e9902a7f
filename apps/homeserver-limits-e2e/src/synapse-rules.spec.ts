import { call, type CallOptions, type Reply } from './testing/http-client.js';
import { LimitsProcess } from './testing/limits-process.js';
import { MailServer } from './testing/mail-server.js';
import { freshAddress, MatrixUser } from './testing/matrix-user.js';
import { describeWithSynapse, Synapse } from './testing/synapse.js';

const CLIENT = '/_matrix/client/v3';
const KIB = 1024;

const rule = (name: string, on: string, by: string, limit: number, more = '') =>
  `[[rules]]\nname = "${name}"\non = ["${on}"]\nby = "${by}"\nlimit = ${limit}\nwindow = "1h"\n${more}\n`;

const RULES = [
  rule('stages_account', 'interactive_auth', 'account', 3),
  rule('stages_source', 'interactive_auth', 'source', 6),
  rule('mails_source', 'request_token', 'source', 4),
  rule('mails_recipient', 'request_token', 'recipient', 2),
  rule('guests', 'guest_registration', 'source', 2),
  rule('names', 'register_available', 'source', 3),
  rule('downloads', 'download', 'user', 4),
  rule('downloads_source', 'download', 'source', 20),
  rule('volume', 'download', 'source', 300 * KIB, 'unit = "bytes"'),
  rule('queries', 'key_query', 'user', 10),
  rule('claims', 'key_claim', 'user', 3),
  rule('searches', 'user_directory', 'user', 2),
  rule('sessions', 'rendezvous', 'source', 2),
].join('');

const SETTINGS = {
  allow_guest_access: true,
  // So that both the old and the new paths serve media.
  enable_authenticated_media: false,
};

const statuses = (replies: readonly Reply[]) => replies.map(({ status }) => status);

describeWithSynapse('rules on the endpoints that need them most, in front of Synapse', () => {
  let synapse: Synapse;
  let mail: MailServer;
  let limits: LimitsProcess;
  let shadow: LimitsProcess;
  let plain: LimitsProcess;
  beforeAll(async () => {
    mail = await MailServer.listen();
    const email = { smtp_host: '127.0.0.1', smtp_port: mail.port, notif_from: 'Synapse <no-reply@b.example>' };
    synapse = await Synapse.start({ settings: { ...SETTINGS, email } });
    const toml = `[server]\nname = "b.example"\ntrusted_proxies = ["127.0.0.1"]\n[gateway]\nupstream = "${synapse.url}"\n`;
    limits = await LimitsProcess.start(`${toml}[operator]\nlisten = "127.0.0.1:0"\n${RULES}`);
    const names = [...RULES.matchAll(/name = "(\w+)"/g)].map(([, name]) => `"${name}"`);
    shadow = await LimitsProcess.start(
      `${toml}[operator]\nlisten = "127.0.0.1:0"\n[ratelimit]\nshadow = [${names.join(', ')}]\n${RULES}`,
    );
    plain = await LimitsProcess.start(toml);
  });
  afterAll(async () => {
    for (const gateway of [limits, shadow, plain]) await gateway?.dispose();
    await synapse?.dispose();
    await mail?.close();
  });

  /** The statuses of requests that are sent one after another. */
  const inTurn = async (count: number, send: (i: number) => Promise<Reply>): Promise<number[]> => {
    const replies: Reply[] = [];
    for (let i = 0; i < count; i++) replies.push(await send(i));
    return statuses(replies);
  };
  /** What must be refused after `granted` requests passes in shadow and without rules. */
  const passesElsewhere = async (count: number, send: (base: string, i: number) => Promise<Reply>): Promise<void> => {
    for (const { url } of [shadow, plain]) expect(await inTurn(count, (i) => send(url, i))).not.toContain(429);
  };
  const upload = async (size: number): Promise<string> => {
    const owner = await MatrixUser.register(plain.url);
    const reply = await owner.call('POST', '/_matrix/media/v3/upload', Buffer.alloc(size, 7), {
      'Content-Type': 'application/octet-stream',
    });
    return reply.body.content_uri.slice('mxc://'.length);
  };

  test('guests by their source, however the kind is written', async () => {
    const from = freshAddress();
    const targets = ['?kind=guest', '?kind=user&kind=guest', '?%6bind=gues%74', '?a=b;kind=guest'];
    const replies = await inTurn(4, (i) =>
      call(limits.url, 'POST', `${CLIENT}/register${targets[i]}`, { body: {}, from }),
    );
    expect(replies.slice(2)).toEqual([429, 429]);
    expect(replies[0]).toBe(200);
    const r0 = '/_matrix/client/r0/register/?kind=guest';
    expect((await call(limits.url, 'POST', r0, { body: {}, from })).status).not.toBe(200);
    // Another source, and the ordinary registration of the same one.
    expect(
      (await call(limits.url, 'POST', `${CLIENT}/register?kind=guest`, { body: {}, from: freshAddress() })).status,
    ).toBe(200);
    expect((await call(limits.url, 'POST', `${CLIENT}/register`, { body: {}, from })).status).toBe(401);
    const elsewhere = freshAddress();
    await passesElsewhere(4, (base) =>
      call(base, 'POST', `${CLIENT}/register?kind=guest`, { body: {}, from: elsewhere }),
    );
  });

  test('lookups of user names by their source, HEAD included', async () => {
    const from = freshAddress();
    const ask = (base: string, i: number, method = 'GET') =>
      call(base, method, `/_matrix/client/${i % 2 ? 'r0' : 'v3'}/register/available?username=new${i}`, { from });
    expect(await inTurn(4, (i) => ask(limits.url, i))).toEqual([200, 200, 200, 429]);
    expect((await ask(limits.url, 5, 'HEAD')).status).toBe(429);
    expect((await call(limits.url, 'OPTIONS', `${CLIENT}/register/available`, { from })).status).toBe(204);
    await passesElsewhere(5, ask);
  });

  test('mails by their recipient and by their source; a mail that Synapse refuses to send uses nothing of a recipient', async () => {
    const ask = (base: string, email: string, from = freshAddress(), path = 'v3/register') =>
      call(base, 'POST', `/_matrix/client/${path}/email/requestToken`, {
        body: { client_secret: `s${Math.random().toString(36).slice(2)}`, email, send_attempt: 1 },
        from,
      });
    const badSecret = () =>
      call(limits.url, 'POST', `${CLIENT}/register/email/requestToken`, {
        body: { client_secret: 'not valid!', email: 'nora@mail.example', send_attempt: 1 },
        from: freshAddress(),
      });
    expect(await inTurn(5, badSecret)).toEqual([400, 400, 400, 400, 400]);
    expect((await ask(limits.url, 'nora@mail.example')).status).toBe(200);
    expect((await ask(limits.url, 'Nora@MAIL.example', freshAddress(), 'r0/register')).status).toBe(200);
    const refused = await ask(limits.url, 'NORA@mail.example', freshAddress(), 'unstable/register');
    expect([refused.status, refused.body.errcode]).toEqual([429, 'M_LIMIT_EXCEEDED']);
    expect(mail.recipients).toHaveLength(2);
    const from = freshAddress();
    expect(await inTurn(5, (i) => ask(limits.url, `new${i}@mail.example`, from))).toEqual([200, 200, 200, 200, 429]);
    expect(mail.recipients).toHaveLength(6);
    const { refusals } = (await call(limits.operatorUrl, 'GET', '/refusals?rule=mails_recipient')).body;
    expect(refusals[0].key).toMatch(/^email:[\w-]{43}$/);
    expect(JSON.stringify([refusals, limits.log])).not.toMatch(/nora/i);
    const elsewhere = freshAddress();
    await passesElsewhere(5, (base) => ask(base, 'ida@mail.example', elsewhere));
  });

  test('proofs of a stage that fail, of an account and a source; passwords stay logins', async () => {
    const user = await MatrixUser.register(limits.url);
    const prove = (base: string, auth: object, from = freshAddress()) =>
      call(base, 'POST', `${CLIENT}/delete_devices`, { token: user.token, body: { devices: ['NONE'], auth }, from });
    const stage = { type: 'm.login.email.identity', threepid_creds: { sid: '1', client_secret: 'invented' } };
    const replies = await inTurn(5, () => prove(limits.url, stage));
    expect(replies).toEqual([401, 401, 401, 429, 429]);
    // A failed password counts as a login, not as a stage.
    const password = { type: 'm.login.password', identifier: { type: 'm.id.user', user: user.name }, password: 'no' };
    expect((await prove(limits.url, password)).status).toBe(401);
    const window = await call(limits.operatorUrl, 'GET', `/rates/login_account?key=user:${user.name}`);
    expect(window.body.counted).toBe(1);
    const stages = await call(limits.operatorUrl, 'GET', `/rates/stages_account?key=user:${user.name}`);
    expect(stages.body.counted).toBe(3);
    await passesElsewhere(5, (base) => prove(base, stage));
  });

  test('stages of a registration by its source, of which completed ones count for nothing', async () => {
    const from = freshAddress();
    const register = (auth: object, i: number) =>
      call(limits.url, 'POST', `${CLIENT}/register`, {
        body: { username: `stage${Date.now()}${i}`, password: 'pw', auth },
        from,
      });
    expect((await register({ type: 'm.login.dummy' }, 0)).status).toBe(200);
    const { body } = await call(limits.operatorUrl, 'GET', `/rates/stages_source?key=${from}`);
    expect(body.counted).toBe(0);
    expect((await register({ session: 'invented' }, 1)).status).not.toBe(429);
  });

  test('downloads of a user and of a source, on every path, with the bytes of their responses', async () => {
    const [small, large] = [await upload(10), await upload(100 * KIB)];
    const user = await MatrixUser.register(limits.url);
    const get = (base: string, target: string, options: CallOptions) => call(base, 'GET', target, options);
    const authenticated = (base: string, i: number, from: string) => {
      const paths = [
        `download/${small}`,
        `download/${small}/name.bin`,
        `thumbnail/${small}?width=9&height=9`,
        `download/${small}`,
      ];
      return get(base, `/_matrix/client/v1/media/${paths[i % 4]}`, { token: user.token, from });
    };
    const from = freshAddress();
    const replies = await inTurn(6, (i) => authenticated(limits.url, i, from));
    expect(replies.filter((status) => status === 200)).toHaveLength(3);
    expect(replies.slice(4)).toEqual([429, 429]);
    // Without a token, only the source counts; three files of 100 KiB and their requests are more than 300 KiB.
    const anonymous = freshAddress();
    const old = (base: string, prefix: string, source = anonymous) =>
      get(base, `/_matrix/media/${prefix}/download/${large}`, { from: source });
    expect((await old(limits.url, 'v3')).bytes).toHaveLength(100 * KIB);
    expect((await old(limits.url, 'r0')).bytes).toHaveLength(100 * KIB);
    const refused = await old(limits.url, 'v1');
    expect([refused.status, refused.body.errcode]).toEqual([429, 'M_LIMIT_EXCEEDED']);
    // A part of a file takes its own length.
    const head = await call(limits.url, 'HEAD', `/_matrix/media/v3/download/${large}`, { from: freshAddress() });
    expect(head.headers['content-length']).toBe(String(100 * KIB));
    const elsewhere = freshAddress();
    await passesElsewhere(5, (base) => old(base, 'v3', elsewhere));
  });

  test('parallel downloads take no more bytes than the limit', async () => {
    const large = await upload(100 * KIB);
    const from = freshAddress();
    const replies = await Promise.all(
      Array.from({ length: 8 }, () => call(limits.url, 'GET', `/_matrix/media/v3/download/${large}`, { from })),
    );
    expect(statuses(replies).sort()).toEqual([200, 200, 429, 429, 429, 429, 429, 429]);
  });

  test('key queries and claims by the number of users and devices', async () => {
    const user = await MatrixUser.register(limits.url);
    const other = await MatrixUser.register(limits.url);
    const query = (by: MatrixUser, users: number, prefix = 'v3') => {
      const ids = Array.from({ length: users }, (_, n) => [`@absent${n}:b.example`, []]);
      return by.call('POST', `/_matrix/client/${prefix}/keys/query`, { device_keys: Object.fromEntries(ids) });
    };
    expect((await query(user, 6)).status).toBe(200);
    expect((await query(user, 5, 'r0')).status).toBe(429);
    expect((await query(user, 4)).status).toBe(200);
    expect((await query(user, 1, 'unstable')).status).toBe(429);
    expect((await query(user, 30_000)).status).toBe(413);
    expect((await query(other, 9_000)).status).toBe(200);
    expect((await query(other, 1)).status).toBe(429);
    const claim = (devices: string[]) => {
      const named = Object.fromEntries(devices.map((id) => [id, 'signed_curve25519']));
      return user.call('POST', `${CLIENT}/keys/claim`, { one_time_keys: { [other.userId]: named } });
    };
    expect((await claim(['A', 'B'])).status).toBe(200);
    expect((await claim(['A', 'B'])).status).toBe(429);
    expect((await claim(['A'])).status).toBe(200);
    for (const body of ['[]', 'no', '{"device_keys":'])
      expect((await user.call('POST', `${CLIENT}/keys/query`, body)).status).toBe(400);
    expect((await call(limits.url, 'POST', `${CLIENT}/keys/query`, { body: {} })).status).toBe(401);
    await passesElsewhere(2, (base) => query(user.through(base), 11));
  });

  test('searches for users', async () => {
    const user = await MatrixUser.register(limits.url);
    const search = (base: string) =>
      user.through(base).call('POST', `${CLIENT}/user_directory/search`, { search_term: 'a' });
    expect(await inTurn(3, () => search(limits.url))).toEqual([200, 200, 429]);
    const slash = await user.call('POST', `${CLIENT}/user_directory/search/`, { search_term: 'a' });
    expect(slash.status).toBe(429);
    await passesElsewhere(3, search);
  });

  test('rendezvous sessions by their source, which Synapse does not have without an authentication service', async () => {
    const from = freshAddress();
    const path = '/_matrix/client/unstable/org.matrix.msc4108/rendezvous';
    const create = (base: string, source = from) => call(base, 'POST', path, { body: 'hello', from: source });
    expect(await inTurn(3, () => create(limits.url))).toEqual([404, 404, 429]);
    await passesElsewhere(3, (base) => create(base, freshAddress()));
  });

  test('all of it in the metrics', async () => {
    const text = (await call(limits.operatorUrl, 'GET', '/metrics')).bytes.toString();
    const reported = (await call(shadow.operatorUrl, 'GET', '/metrics')).bytes.toString();
    for (const name of [
      'guests',
      'names',
      'mails_source',
      'mails_recipient',
      'stages_account',
      'downloads',
      'volume',
      'queries',
      'claims',
      'searches',
      'sessions',
    ])
      expect(text).toMatch(new RegExp(`limits_decisions_total\\{rule="${name}",outcome="refused"\\} [1-9]`));
    for (const name of ['guests', 'names', 'stages_account', 'volume', 'queries', 'searches']) {
      expect(reported).toMatch(new RegExp(`limits_decisions_total\\{rule="${name}",outcome="shadow_refused"\\} [1-9]`));
      expect(reported).toContain(`limits_decisions_total{rule="${name}",outcome="refused"} 0\n`);
    }
  });
});
