import { readFile } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import { call } from './testing/http-client.js';
import { LimitsProcess } from './testing/limits-process.js';
import { MatrixUser } from './testing/matrix-user.js';
import { describeWithSynapse, Synapse } from './testing/synapse.js';

const CLIENT = '/_matrix/client/v3';
const MIB = 1024 * 1024;
const LONG_POLLS = 1_000;
/** 30,000 in the field; shorter here, because nothing in the gateway depends on it. */
const POLL_MS = Number(process.env['HEADGATE_TEST_POLL_MS'] ?? 8_000);
/** Polls that only an event ends, however busy the machine is. */
const ENDLESS_POLL_MS = 150_000;
const MAX_HOLDING_BYTES = 200 * MIB;
const UPLOADS = 8;
/** A quarter of the uploads and downloads in progress. */
const MAX_STREAMING_BYTES = 200 * MIB;

describeWithSynapse('the gateway in front of Synapse under load', () => {
  let synapse: Synapse;
  let limits: LimitsProcess;
  const agent = new Agent({ keepAlive: true, maxSockets: Infinity });
  beforeAll(async () => {
    // Otherwise the poll of a user ends after half a minute with the news that they are offline.
    synapse = await Synapse.start({ settings: { presence: { enabled: false } } });
    limits = await LimitsProcess.start(
      `[server]\nname = "b.example"\ntrusted_proxies = ["127.0.0.1"]\n[gateway]\nupstream = "${synapse.url}"\ntimeout_ms = 120000\n`,
    );
  });
  afterAll(async () => {
    agent.destroy();
    await limits?.dispose();
    await synapse?.dispose();
  });

  /** The largest amount of memory that the process has had. */
  async function peakBytes(): Promise<number> {
    const status = await readFile(`/proc/${limits.pid}/status`, 'utf8');
    return Number(/VmHWM:\s+(\d+)/.exec(status)?.[1]) * 1024;
  }

  test(`holds ${LONG_POLLS} long polls of ${POLL_MS} ms, and an event ends them all`, async () => {
    const user = await MatrixUser.register(limits.url);
    const room = await user.createRoom();
    const { next_batch } = (await user.call('GET', `${CLIENT}/sync?timeout=0`)).body;
    const { hostname, port } = new URL(limits.url);
    const poll = (since: string, timeoutMs: number) =>
      new Promise<{ status: number; body: string }>((resolve, reject) => {
        const path = `${CLIENT}/sync?timeout=${timeoutMs}&set_presence=offline&since=${since}`;
        const headers = { Authorization: `Bearer ${user.token}` };
        const outgoing = request({ hostname, port, path, headers, agent }, (response) => {
          let body = '';
          response.setEncoding('utf8').on('data', (text: string) => (body += text));
          response.once('end', () => resolve({ status: response.statusCode ?? 0, body }));
          response.once('error', reject);
        });
        outgoing.once('error', reject).end();
      });
    const began = performance.now();
    const quiet = await Promise.all(Array.from({ length: LONG_POLLS }, () => poll(next_batch, POLL_MS)));
    expect(new Set(quiet.map(({ status }) => status))).toEqual(new Set([200]));
    expect(performance.now() - began).toBeGreaterThanOrEqual(POLL_MS);
    expect(await peakBytes()).toBeLessThan(MAX_HOLDING_BYTES);
    const { next_batch: last } = JSON.parse(quiet[0]!.body) as { next_batch: string };
    const waiting = Promise.all(Array.from({ length: LONG_POLLS }, () => poll(last, ENDLESS_POLL_MS)));
    const sent = await user.call('PUT', `${CLIENT}/rooms/${room}/send/m.room.message/1`, {
      msgtype: 'm.text',
      body: 'x',
    });
    expect(sent.status).toBe(200);
    for (const { status, body } of await waiting)
      expect([status, body.includes(sent.body.event_id)]).toEqual([200, true]);
  });

  test('streams uploads and downloads of 50 MiB, without holding them in memory', async () => {
    const user = await MatrixUser.register(limits.url);
    const content = Buffer.alloc(50 * MIB, 'media');
    const before = await peakBytes();
    const transfers = Array.from({ length: UPLOADS }, async () => {
      const { body } = await user.call('POST', '/_matrix/media/v3/upload', content);
      const download = `/_matrix/client/v1/media/download/${body.content_uri.slice('mxc://'.length)}`;
      return (await user.call('GET', download)).bytes.equals(content);
    });
    expect(await Promise.all(transfers)).toEqual(Array(UPLOADS).fill(true));
    expect((await peakBytes()) - before).toBeLessThan(MAX_STREAMING_BYTES);
    const metrics = (await call(limits.url, 'GET', '/metrics')).bytes.toString();
    expect(metrics).toContain('limits_decisions_total{rule="media_upload",outcome="granted"} ' + UPLOADS);
  });
});
