import { inBothModes } from './testing/modes.js';
import { call } from './testing/http-client.js';
import { MatrixUser } from './testing/matrix-user.js';

const MIB = 1024 * 1024;
/** A body of many values takes long to parse, in which no other request is served. */
const denseJson = (bytes: number) =>
  `{"x":[${Array<string>(Math.floor(bytes / 3) - 10)
    .fill('{}')
    .join(',')}]}`;

inBothModes('bodies of many values', '', (system) => {
  let user: MatrixUser;
  beforeAll(async () => {
    user = await MatrixUser.register(system().url);
  });

  test.each([
    ['POST', '/_matrix/client/v3/login', 64 * 1024],
    ['POST', '/_matrix/client/v3/register', 64 * 1024],
    ['POST', '/_svc/rtc/media/sfu/get', 64 * 1024],
    ['POST', '/_matrix/client/v3/keys/upload', 4 * MIB],
    ['POST', '/_matrix/client/v3/pushers/set', MIB],
  ])('are refused before they are parsed (%s %s)', async (method, target, bytes) => {
    const { status, body } = await user.call(method, target, denseJson(bytes));
    expect([status, body.errcode]).toEqual([413, 'M_TOO_LARGE']);
  });

  test('are refused as filters', async () => {
    const { status, body } = await user.call('POST', user.path('filter'), denseJson(MIB));
    expect([status, body.errcode]).toEqual([413, 'M_TOO_LARGE']);
  });

  test('are accepted as account data in front of a homeserver, which does not depend on them', async () => {
    const { mode, upstream } = system();
    if (mode === 'embedded') return;
    const content = denseJson(200 * 1024);
    expect((await user.call('PUT', user.path('account_data/x.dense'), content)).status).toBe(200);
    const stored = await call(upstream!.url, 'GET', user.path('account_data/x.dense'), { token: user.token });
    expect(stored.body.x).toHaveLength(content.split('{}').length - 1);
  });

  test('leave room for the keys that the cap allows at the same time', async () => {
    const keys = Object.fromEntries(
      Array.from({ length: 1_000 }, (_, n) => [
        `signed_curve25519:K${n}`,
        { key: `key${n}`, signatures: { [user.userId]: { 'ed25519:D': 'signature' } } },
      ]),
    );
    const { status, body } = await user.call('POST', '/_matrix/client/v3/keys/upload', { one_time_keys: keys });
    expect([status, body.one_time_key_counts?.signed_curve25519]).toEqual([200, 1_000]);
  });
});
