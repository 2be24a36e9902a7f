import { once } from 'node:events';
import { connect } from 'node:net';
import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { call } from './testing/http-client.js';
import { LimitsProcess } from './testing/limits-process.js';
import { RecordingUpstream } from './testing/recording-upstream.js';

const LOGIN = { body: { type: 'm.login.password', user: 'nora', password: 'x' } };

describe.each([1, 2])('deny lists, with %i workers', (workers) => {
  let upstream: RecordingUpstream;
  let limits: LimitsProcess;

  const write = (text: string, name = 'abuse.txt') => {
    writeFileSync(join(limits.folder, 'new'), text);
    renameSync(join(limits.folder, 'new'), join(limits.folder, name));
  };
  const toml = (shadow: boolean) =>
    `[server]\nworkers = ${workers}\ntrusted_proxies = ["127.0.0.1"]\n[gateway]\nupstream = "${upstream.url}"\n` +
    `[operator]\nlisten = "127.0.0.1:0"\n[exemptions]\nnetworks = ["198.51.100.7"]\n` +
    `[[deny]]\nname = "abuse"\nfile = "${join(limits.folder, 'abuse.txt')}"\nshadow = ${shadow}\n`;
  const ask = (from: string, target = '/_matrix/client/versions') =>
    call(limits.url, 'GET', target, { from }).then(({ status }) => status);
  const metric = async (outcome: string) => {
    const { bytes } = await call(limits.operatorUrl, 'GET', '/metrics');
    const line = new RegExp(`^limits_decisions_total\\{rule="deny:abuse",outcome="${outcome}"\\} (\\d+)$`, 'm');
    return Number(line.exec(bytes.toString('utf8'))?.[1]);
  };
  /** The refusals, the newest first, once the condition holds. A worker reports one just after its response. */
  const refusals = async (holds: (all: { shadow?: true }[]) => boolean) => {
    for (;;) {
      const { refusals: all } = (await call(limits.operatorUrl, 'GET', '/refusals')).body;
      if (holds(all)) return all;
    }
  };

  beforeEach(async () => {
    upstream = await RecordingUpstream.listen();
    limits = await LimitsProcess.prepare('');
    write('198.51.100.0/24 # a network\n2001:db8::/32\n');
    await limits.configure(toml(false));
    await limits.launch();
  });
  afterEach(async () => {
    await limits.dispose();
    await upstream.close();
  });

  test('refuse every request of an address, relayed or not, and say by which list', async () => {
    expect(await metric('refused')).toBe(0);
    const refused = await call(limits.url, 'GET', '/_matrix/client/versions', { from: '198.51.100.1' });
    expect([refused.status, refused.body.errcode]).toEqual([403, 'M_FORBIDDEN']);
    expect(JSON.stringify(refused.body)).not.toContain('abuse');
    expect(await ask('198.51.100.1')).toBe(403);
    expect(
      (await call(limits.url, 'POST', '/_matrix/client/v3/login', { ...LOGIN, from: '2001:db8:5::1' })).status,
    ).toBe(403);
    expect((await call(limits.url, 'OPTIONS', '/x', { from: '198.51.100.9' })).status).toBe(403);
    expect(upstream.requests).toEqual([]);
    expect([await ask('203.0.113.1'), await ask('198.51.100.7')]).toEqual([200, 200]);
    expect(await metric('refused')).toBe(4);
    const entry = (await refusals(({ length }) => length === 4)).at(-1);
    expect(entry).toMatchObject({
      rule: 'deny:abuse',
      reason: 'denied',
      address: '198.51.100.1',
      path: '/_matrix/client/versions',
    });
    const why = (await call(limits.operatorUrl, 'GET', '/why?subject=198.51.100.1')).body;
    expect(why.refusals).toHaveLength(2);
    // The header of a caller who is not a proxy is not believed, and the last proxy decides.
    expect(await ask('203.0.113.1, 198.51.100.1')).toBe(403);
    expect(await ask('198.51.100.1, 203.0.113.1')).toBe(200);
  });

  test('refuse the upgrade of a connection', async () => {
    let upgrades = 0;
    upstream.upgrade = (_request, socket) => {
      upgrades++;
      socket.destroy();
    };
    const socket = connect(Number(new URL(limits.url).port), '127.0.0.1');
    socket.write(
      'GET /socket HTTP/1.1\r\nHost: b\r\nX-Forwarded-For: 198.51.100.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
    );
    expect(String((await once(socket, 'data'))[0])).toMatch(/^HTTP\/1\.1 403 /);
    expect(upgrades).toBe(0);
    socket.destroy();
  });

  test('change with their file, all at once or not at all, and only report in shadow', async () => {
    write('198.51.100.0/24\nnonsense\n203.0.113.1\n');
    await limits.logged(({ msg }) => msg === 'a deny list was not changed; the previous one stays in force');
    expect([await ask('198.51.100.1'), await ask('203.0.113.1')]).toEqual([403, 200]);
    write('203.0.113.1\n');
    await limits.logged(({ msg }) => msg === 'the deny lists were read');
    while ((await ask('203.0.113.1')) !== 403) await new Promise((resume) => setImmediate(resume));
    expect(await ask('198.51.100.1')).toBe(200);
    await limits.configure(toml(true));
    await limits.reload();
    while ((await ask('203.0.113.1')) !== 200) await new Promise((resume) => setImmediate(resume));
    expect(await metric('shadow_refused')).toBe(1);
    expect((await refusals(([newest]) => newest?.shadow === true))[0]).toMatchObject({
      rule: 'deny:abuse',
      shadow: true,
    });
  });

  test('are those of CrowdSec while its local API has them', async () => {
    const banned = { duration: '4h', scope: 'Range', type: 'ban', value: '203.0.113.0/24' };
    const answers = [
      { new: [banned], deleted: null },
      { new: null, deleted: [{ ...banned, duration: '-1s' }] },
    ];
    const api = await RecordingUpstream.listen();
    let mayEnd = false;
    api.respond = ({ url = '' }, response) => {
      const answer = url.endsWith('startup=true') ? answers[0] : mayEnd ? answers[1] : { new: null, deleted: null };
      response.end(JSON.stringify(answer));
    };
    try {
      write('837be58e22a28738066de1be8f53636b\n', 'key');
      const list = `[[deny]]\nname = "crowdsec"\ncrowdsec = "${api.url}"\nkey_file = "${join(limits.folder, 'key')}"\ninterval = "100ms"\n`;
      await limits.configure(toml(false) + list);
      await limits.reload();
      while ((await ask('203.0.113.9')) !== 403) await new Promise((resume) => setImmediate(resume));
      expect((await refusals(({ length }) => length > 0))[0]).toMatchObject({
        rule: 'deny:crowdsec',
        reason: 'denied',
        address: '203.0.113.9',
      });
      expect(api.requests[0]?.rawHeaders).toContain('837be58e22a28738066de1be8f53636b');
      mayEnd = true;
      while ((await ask('203.0.113.9')) !== 200) await new Promise((resume) => setImmediate(resume));
    } finally {
      await api.close();
    }
  });
});
