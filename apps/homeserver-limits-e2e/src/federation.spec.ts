import { signJson, SigningKey, signXMatrix } from '@headgate/matrix-protocol';
import { call } from './testing/http-client.js';
import { LimitsProcess } from './testing/limits-process.js';
import { MatrixUser } from './testing/matrix-user.js';
import { RecordingUpstream } from './testing/recording-upstream.js';

const DAY = 24 * 60 * 60 * 1000;

describe('PUT /_matrix/federation/v1/send (embedded)', () => {
  const key = SigningKey.generate('ed25519:peer');
  let peer: RecordingUpstream;
  let limits: LimitsProcess;

  const publish = (validForMs = 100 * 365 * DAY) => {
    const verify_keys = { [key.id]: { key: key.publicKey } };
    const document = { server_name: 'a.example', verify_keys, valid_until_ts: Date.now() + validForMs };
    peer.respond = (_request, response) => response.end(JSON.stringify(signJson(document, 'a.example', key)));
  };

  beforeAll(async () => {
    peer = await RecordingUpstream.listen();
    limits = await LimitsProcess.start(
      `[server]\nname = "b.example"\ntrusted_proxies = ["127.0.0.0/8"]\n[federation.peers]\n"a.example" = "${peer.url}"\n`,
    );
  });
  afterAll(async () => {
    await limits.dispose();
    await peer.close();
  });
  beforeEach(() => publish());

  interface Sent {
    uri: string;
    pdus?: number;
    edus?: number;
    signedUri?: string;
    destination?: string;
    bodyOrigin?: string;
    origin?: string;
  }

  function send({ uri, pdus = 0, edus = 0, ...odd }: Sent) {
    const { origin = 'a.example', bodyOrigin = origin, destination = 'b.example', signedUri = uri } = odd;
    const content = {
      origin: bodyOrigin,
      origin_server_ts: 1,
      pdus: Array<object>(pdus).fill({ n: 1 }),
      edus: Array<object>(edus).fill({}),
    };
    const Authorization = signXMatrix({ method: 'PUT', uri: signedUri, origin, destination, content }, key);
    return call(limits.url, 'PUT', uri, { body: content, headers: { Authorization } });
  }
  const path = (txn: string) => `/_matrix/federation/v1/send/${txn}`;

  test('takes a signed transaction and answers its repetition the same', async () => {
    const first = await send({ uri: path('t%2D1'), pdus: 50, edus: 101 });
    expect([first.status, first.body]).toEqual([200, { pdus: {} }]);
    expect((await send({ uri: path('t%2D1'), pdus: 50 })).body).toEqual(first.body);
  });

  test('covers the target as it was sent, not as it decodes', async () => {
    const reply = await send({ uri: path('t%2D2'), signedUri: path('t-2') });
    expect([reply.status, reply.body.errcode]).toEqual([401, 'M_UNAUTHORIZED']);
  });

  test.each([
    ['meant for another server', { destination: 'c.example' }],
    ['of another origin than its body says', { bodyOrigin: 'c.example' }],
    ['of a server whose name is a private address', { origin: '127.0.0.1:1' }],
    ['of a server whose name only has private addresses', { origin: 'localhost:1' }],
  ])('refuses a transaction %s', async (_what, odd) => {
    expect((await send({ uri: path('odd'), ...odd })).status).toBe(401);
  });

  test('refuses a transaction without a signature', async () => {
    const body = { origin: 'a.example', pdus: [] };
    expect((await call(limits.url, 'PUT', path('bare'), { body })).status).toBe(401);
  });

  test('refuses numbers that a signature cannot cover', async () => {
    const body = '{"origin":"a.example","pdus":[],"n":1.0}';
    expect((await call(limits.url, 'PUT', path('float'), { body })).body.errcode).toBe('M_BAD_JSON');
  });

  test.each([
    ['51 PDUs', { uri: path('many'), pdus: 51 }],
    ['an id of 256 bytes', { uri: path('a'.repeat(256)) }],
    ['an id of 256 bytes in 128 characters', { uri: path('%C3%A9'.repeat(128)) }],
  ])('refuses %s with M_BAD_JSON', async (_what, sent) => {
    const before = limits.log.length;
    const reply = await send(sent);
    expect([reply.status, reply.body.errcode]).toEqual([400, 'M_BAD_JSON']);
    await limits.logged(({ msg }) => msg === 'a transaction of a peer was refused', before);
  });

  test('takes an id of 255 bytes', async () => {
    expect((await send({ uri: path('a'.repeat(255)) })).status).toBe(200);
  });

  test('fetches the keys of a peer once while they are good', async () => {
    const before = peer.asked('/_matrix/key/v2/server');
    for (let i = 0; i < 5; i++) await send({ uri: path(`again${i}`) });
    expect(peer.asked('/_matrix/key/v2/server') - before).toBeLessThanOrEqual(1);
  });

  test('hands one-time keys to a signed claim of a peer', async () => {
    const user = await MatrixUser.register(limits.url);
    await user.call('POST', '/_matrix/client/v3/keys/upload', {
      one_time_keys: { 'signed_curve25519:a': { key: 'A' } },
    });
    const uri = '/_matrix/federation/v1/user/keys/claim';
    const content = { one_time_keys: { [user.userId]: { [user.deviceId]: 'signed_curve25519' } } };
    const Authorization = signXMatrix(
      { method: 'POST', uri, origin: 'a.example', destination: 'b.example', content },
      key,
    );
    const claim = () => call(limits.url, 'POST', uri, { body: content, headers: { Authorization } });
    expect((await claim()).body.one_time_keys[user.userId][user.deviceId]).toEqual({
      'signed_curve25519:a': { key: 'A' },
    });
    expect((await claim()).body.one_time_keys).toEqual({});
  });

  test('proves users to third parties, and says 401 without a token', async () => {
    const user = await MatrixUser.register(limits.url);
    const { access_token } = (await user.call('POST', user.path('openid/request_token'), {})).body;
    const ask = (query: string) => call(limits.url, 'GET', `/_matrix/federation/v1/openid/userinfo${query}`);
    expect((await ask(`?access_token=${access_token}`)).body).toEqual({ sub: user.userId });
    expect((await ask('')).body.errcode).toBe('M_MISSING_TOKEN');
    expect((await ask('?access_token=x')).body.errcode).toBe('M_UNKNOWN_TOKEN');
  });
});
