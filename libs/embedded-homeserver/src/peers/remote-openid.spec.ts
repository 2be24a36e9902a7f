import { RemoteOpenId } from './remote-openid.js';

describe('RemoteOpenId', () => {
  function open(sub: unknown) {
    const time = { ms: 0 };
    const asked: string[] = [];
    const getJson = async (server: string, path: string) => {
      asked.push(`${server} ${path}`);
      if (sub === undefined) throw new Error('down');
      return { sub };
    };
    return { time, asked, remote: new RemoteOpenId(['a.example'], { getJson }, () => time.ms) };
  }

  test('asks a trusted server, and again after a minute on the monotonic clock', async () => {
    const { remote, time, asked } = open('@nora:a.example');
    expect(await remote.userOf('a.example', 't/1')).toBe('@nora:a.example');
    time.ms = 59_999;
    expect(await remote.userOf('a.example', 't/1')).toBe('@nora:a.example');
    expect(asked).toEqual(['a.example /_matrix/federation/v1/openid/userinfo?access_token=t%2F1']);
    time.ms = 60_000;
    await remote.userOf('a.example', 't/1');
    expect(asked).toHaveLength(2);
  });

  test('asks no other server', async () => {
    const { remote, asked } = open('@nora:evil.example');
    expect(await remote.userOf('evil.example', 't')).toBeUndefined();
    expect(asked).toEqual([]);
  });

  test.each([['@nora:b.example'], ['nora'], [5], [null], [undefined]])(
    'accepts no %p of a trusted server',
    async (sub) => {
      expect(await open(sub).remote.userOf('a.example', 't')).toBeUndefined();
    },
  );
});
