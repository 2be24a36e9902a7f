import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CrowdsecApi, CustomBouncer, describeWithBouncer, describeWithCrowdsec } from './testing/crowdsec.js';
import { guess } from './testing/guesses.js';
import { call } from './testing/http-client.js';
import { LimitsProcess } from './testing/limits-process.js';
import { freePort } from './testing/ports.js';
import { RecordingUpstream } from './testing/recording-upstream.js';

const TOKEN = 'operator-token-0123';
const KEY = 'key-of-the-firewall';
/** Each program has its own: it gets what has changed since the last request with its key. */
const OWN_KEY = 'key-of-the-gateway-itself';
/** Guesses of one address until it is blocked for an hour. */
const GUESSES = 4;

let upstream: RecordingUpstream;
const gateways: LimitsProcess[] = [];
beforeEach(async () => {
  upstream = await RecordingUpstream.listen();
  upstream.respond = ({ method }, response) => {
    if (method === 'POST') response.writeHead(403);
    response.end('{"errcode":"M_FORBIDDEN","error":"Wrong."}');
  };
});
afterEach(async () => {
  for (const gateway of gateways.splice(0)) await gateway.dispose();
  await upstream.close();
});

const BLOCKS = `[blocks.bouncers]\nfirewall = "${KEY}"\nitself = "${OWN_KEY}"\n`;
/** A gateway that blocks addresses which guess passwords. @param more its other settings, by its folder */
async function startGateway(more: (folder: string) => string = () => BLOCKS, workers = 1): Promise<LimitsProcess> {
  const limits = await LimitsProcess.prepare('');
  gateways.push(limits);
  await limits.configure(
    `[server]\nworkers = ${workers}\ntrusted_proxies = ["127.0.0.1"]\n[gateway]\nupstream = "${upstream.url}"\n` +
      `[operator]\nlisten = "127.0.0.1:${await freePort()}"\ntoken = "${TOKEN}"\n` +
      `[rates.login_source]\nlimit = 2\nwindow = "1h"\nblock = { after = 2, for = "1h" }\n${more(limits.folder)}`,
  );
  return limits;
}
const writeSecret = (folder: string, name: string, text: string): string => {
  writeFileSync(join(folder, name), `${text}\n`);
  return join(folder, name);
};
const block = async (limits: LimitsProcess, from: string) => {
  let last: unknown;
  for (let i = 0; i < GUESSES; i++) last = await guess(limits.url, `nora${i}`, from);
  expect(last).toBe(429);
};
const lift = async (limits: LimitsProcess, address: string) => {
  const headers = { Authorization: `Bearer ${TOKEN}` };
  const { status } = await call(
    limits.operatorUrl,
    'DELETE',
    `/rates/login_source?key=${encodeURIComponent(address)}`,
    {
      headers,
    },
  );
  expect(status).toBe(200);
};
const statusFor = (limits: LimitsProcess, from: string) =>
  call(limits.url, 'GET', '/_matrix/client/versions', { from }).then(({ status }) => status);
const until = async (isSo: () => Promise<boolean>) => {
  while (!(await isSo())) await new Promise((resume) => setImmediate(resume));
};
const decisionsOf = async (limits: LimitsProcess): Promise<{ value: string; origin: string }[]> =>
  (await call(limits.operatorUrl, 'GET', '/v1/decisions', { headers: { 'X-Api-Key': KEY } })).body ?? [];

describeWithBouncer('a bouncer of CrowdSec that reads the blocks of the gateway', () => {
  let bouncer: CustomBouncer | undefined;
  afterEach(() => bouncer?.dispose());

  test.each([1, 2])('bans what it blocks and no longer, also across a restart, with %i workers', async (workers) => {
    const limits = await startGateway(undefined, workers);
    await limits.launch();
    await block(limits, '198.51.100.1');
    bouncer = await CustomBouncer.start(limits.operatorUrl, KEY);
    expect(await bouncer.has('add 198.51.100.1')).toBe('homeserver-limits/login_source');
    await block(limits, '2001:db8:1:2::7');
    await bouncer.has('add 2001:db8:1:2::/64');
    await lift(limits, '198.51.100.1');
    await bouncer.has('del 198.51.100.1');
    await limits.end();
    await limits.launch();
    expect((await decisionsOf(limits)).map(({ value }) => value)).toEqual(['2001:db8:1:2::/64']);
    expect(await guess(limits.url, 'nora9', '2001:db8:1:2::8')).toBe(429);
    await lift(limits, '2001:db8:1:2::/64');
    await bouncer.has('del 2001:db8:1:2::/64');
    expect(await decisionsOf(limits)).toEqual([]);
  });
});

describe('a gateway that reads the blocks of another one', () => {
  const reading =
    (url: string, key = KEY) =>
    (folder: string) =>
      `[[deny]]\nname = "others"\ncrowdsec = "${url}"\nkey_file = "${writeSecret(folder, 'key', key)}"\ninterval = "100ms"\n`;

  test('denies these addresses until they are lifted, and passes them on to no other', async () => {
    const first = await startGateway();
    await first.launch();
    const second = await startGateway((folder) => reading(first.operatorUrl)(folder) + BLOCKS);
    await second.launch();
    await block(first, '198.51.100.1');
    await until(async () => (await statusFor(second, '198.51.100.1')) === 403);
    for (let i = 0; i < GUESSES; i++) expect(await guess(second.url, `nora${i}`, '198.51.100.1')).toBe(403);
    expect(await decisionsOf(second)).toEqual([]);
    // The first one blocks logins only.
    expect(await statusFor(first, '198.51.100.1')).toBe(200);
    await lift(first, '198.51.100.1');
    await until(async () => (await statusFor(second, '198.51.100.1')) === 200);
  });

  test('leaves out its own when it reads itself', async () => {
    const limits = await startGateway((folder) => `${BLOCKS}${reading('http://127.0.0.1:1')(folder)}`);
    await limits.launch();
    const other = await startGateway((folder) => `${BLOCKS}${reading(limits.operatorUrl)(folder)}`);
    await other.launch();
    await limits.configure(
      `[server]\ntrusted_proxies = ["127.0.0.1"]\n[gateway]\nupstream = "${upstream.url}"\n` +
        `[rates.login_source]\nlimit = 2\nwindow = "1h"\nblock = { after = 2, for = "1h" }\n` +
        `[operator]\nlisten = "${new URL(limits.operatorUrl).host}"\ntoken = "${TOKEN}"\n` +
        `${BLOCKS}${reading(limits.operatorUrl, OWN_KEY)(limits.folder)}`,
    );
    await limits.reload();
    await block(limits, '198.51.100.1');
    // The other one has them, so the first one has had the time to read them as well.
    await until(async () => (await statusFor(other, '198.51.100.1')) === 403);
    const asked = async () => {
      const { bytes } = await call(limits.operatorUrl, 'GET', '/metrics', {
        headers: { Authorization: `Bearer ${TOKEN}` },
      });
      return bytes.toString('utf8').includes('limits_decisions_total{rule="deny:others",outcome="refused"} 0');
    };
    expect([await statusFor(limits, '198.51.100.1'), await asked()]).toEqual([200, true]);
  });
});

describeWithCrowdsec("CrowdSec's local API", () => {
  let api: CrowdsecApi;
  beforeEach(async () => (api = await CrowdsecApi.prepare()));
  afterEach(() => api.dispose());

  const sending = (folder: string) =>
    `[blocks]\ncrowdsec = "${api.url}"\nmachine = "${CrowdsecApi.MACHINE}"\n` +
    `password_file = "${writeSecret(folder, 'password', CrowdsecApi.PASSWORD)}"\n`;
  const reading = (folder: string) =>
    `[[deny]]\nname = "crowdsec"\ncrowdsec = "${api.url}"\nkey_file = "${writeSecret(folder, 'key', CrowdsecApi.KEY)}"\ninterval = "100ms"\n`;

  test.each([1, 2])(
    'has the blocks of a gateway as its decisions until they are lifted, with %i workers',
    async (workers) => {
      const limits = await startGateway(sending, workers);
      await limits.launch();
      // It is not there yet.
      await block(limits, '198.51.100.1');
      await limits.logged(({ msg }) => msg.startsWith('the blocks could not be sent to CrowdSec'));
      await api.listen();
      await until(async () => (await api.decisions()).length === 1);
      expect((await api.decisions())[0]).toMatchObject({
        value: '198.51.100.1',
        scenario: 'homeserver-limits/login_source',
        origin: expect.stringMatching(/^homeserver-limits-[0-9a-f]{8}$/),
        type: 'ban',
        scope: 'Ip',
        duration: expect.stringMatching(/^5\dm/),
      });
      await block(limits, '2001:db8:1:2::7');
      await until(async () => (await api.decisions()).some(({ value }) => value === '2001:db8:1:2::/64'));
      await lift(limits, '198.51.100.1');
      await until(async () => (await api.decisions()).length === 1);
      await lift(limits, '2001:db8:1:2::/64');
      await until(async () => (await api.decisions()).length === 0);
    },
  );

  test('keeps the block of one gateway when another one lifts its own', async () => {
    await api.listen();
    const both = [await startGateway(sending), await startGateway(sending)];
    for (const limits of both) {
      await limits.launch();
      await block(limits, '198.51.100.1');
    }
    await until(async () => (await api.decisions()).length === 2);
    await lift(both[0]!, '198.51.100.1');
    await until(async () => (await api.decisions()).length === 1);
    const [kept] = await api.decisions();
    await lift(both[1]!, '198.51.100.1');
    await until(async () => (await api.decisions()).length === 0);
    expect(kept).toMatchObject({ value: '198.51.100.1', scenario: 'homeserver-limits/login_source' });
  });

  test('bans addresses of a gateway that reads it, but not by its own blocks', async () => {
    await api.listen();
    const limits = await startGateway((folder) => sending(folder) + reading(folder));
    await limits.launch();
    await block(limits, '198.51.100.1');
    await until(async () => (await api.decisions()).length === 1);
    await api.ban('203.0.113.9');
    await until(async () => (await statusFor(limits, '203.0.113.9')) === 403);
    // It was read with the other one.
    expect(await statusFor(limits, '198.51.100.1')).toBe(200);
    await api.unban('203.0.113.9');
    await until(async () => (await statusFor(limits, '203.0.113.9')) === 200);
  });
});
