import { inBothModes } from './testing/modes.js';
import { call } from './testing/http-client.js';
import { freshAddress, MatrixUser } from './testing/matrix-user.js';

const CLIENT = '/_matrix/client/v3';
const rule = (name: string, on: string, by: string, limit: number, more = '') =>
  `[[rules]]\nname = "${name}"\non = ["${on}"]\nby = "${by}"\nlimit = ${limit}\nwindow = "1h"\n${more}\n`;

const RULES = [
  rule('names', 'register_available', 'source', 2),
  rule('volume', 'download', 'user', 5_000, 'unit = "bytes"'),
  rule('queries', 'key_query', 'user', 5),
  rule('claims', 'key_claim', 'server', 2),
].join('');

inBothModes('rules on operations that have no other bound', RULES, (system) => {
  test('count lookups of user names', async () => {
    const from = freshAddress();
    const ask = async () =>
      (await call(system().url, 'GET', `${CLIENT}/register/available?username=free`, { from })).status;
    expect([await ask(), await ask(), await ask()]).toEqual([200, 200, 429]);
  });

  test('count the bytes of downloads', async () => {
    const user = await MatrixUser.register(system().url);
    const { body } = await user.call('POST', '/_matrix/media/v3/upload', Buffer.alloc(2_000, 1));
    const path = `/_matrix/client/v1/media/download/${body.content_uri.slice('mxc://'.length)}`;
    const replies = [];
    for (let i = 0; i < 3; i++) replies.push(await user.call('GET', path));
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 429]);
    expect(replies[0]!.bytes).toEqual(Buffer.alloc(2_000, 1));
    expect((await (await MatrixUser.register(system().url)).call('GET', path)).status).toBe(200);
  });

  test('count the users of a request for keys', async () => {
    const user = await MatrixUser.register(system().url);
    const query = async (count: number) => {
      const ids = Array.from({ length: count }, (_, n) => [`@absent${n}:b.example`, []]);
      return (await user.call('POST', `${CLIENT}/keys/query`, { device_keys: Object.fromEntries(ids) })).status;
    };
    expect([await query(3), await query(3), await query(2), await query(1)]).toEqual([200, 429, 200, 429]);
  });

  test('take nothing of a shared budget for strangers', async () => {
    const claim = { one_time_keys: { '@absent:b.example': { A: 'signed_curve25519' } } };
    const asStranger = (token?: string) =>
      call(system().url, 'POST', `${CLIENT}/keys/claim`, { body: claim, ...(token !== undefined && { token }) });
    for (let i = 0; i < 5; i++) expect((await asStranger(i % 2 ? 'invented' : undefined)).status).toBe(401);
    const user = await MatrixUser.register(system().url);
    const own = async () => (await user.call('POST', `${CLIENT}/keys/claim`, claim)).status;
    expect([await own(), await own(), await own()]).toEqual([200, 200, 429]);
  });
});
