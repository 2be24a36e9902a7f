import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { onHomeservers, type RunningHomeserver } from './testing/homeservers.js';
import { call } from './testing/http-client.js';
import { LimitsProcess } from './testing/limits-process.js';
import { MatrixUser } from './testing/matrix-user.js';
import { describeWhere, installedPeer } from './testing/peers.js';

const CLIENT = join(import.meta.dirname, '../clients/nio_client.py');
const PYTHON = installedPeer('nio');
/** Longer than three requests take on a busy machine. */
const WINDOW_MS = 10_000;
const TIMEOUT_MS = 200_000;
const BOUNDS = `[rates.ring]\nlimit = 2\nwindow = "${WINDOW_MS}ms"
[rates.login_account]\nlimit = 1\nwindow = "${WINDOW_MS}ms"
[limits]\nfilters_per_user = 1\n`;

/** The waits in ms of the refusals that the client received, and how long it took to succeed. */
type Repeated = readonly [waits: readonly number[], tookMs: number];

const run = promisify(execFile);

describeWhere(PYTHON, 'nio')('matrix-nio through the gateway', () => {
  onHomeservers('on', (homeserver) => {
    let upstream: RunningHomeserver;
    let limits: LimitsProcess;
    beforeAll(async () => {
      upstream = await homeserver.start();
      limits = await LimitsProcess.start(
        `[server]\nname = "b.example"\ntrusted_proxies = ["127.0.0.1"]\n[gateway]\nupstream = "${upstream.url}"\n${BOUNDS}`,
      );
    });
    afterAll(async () => {
      await limits?.dispose();
      await upstream?.dispose();
    });

    async function play<Result>(scenario: string): Promise<Result & { users: readonly MatrixUser[] }> {
      const users = [await MatrixUser.register(limits.url), await MatrixUser.register(limits.url)];
      const names = users.map(({ userId }) => userId);
      const options = JSON.stringify({ url: limits.url, users: names, password: MatrixUser.password });
      const { stdout } = await run(PYTHON!, [CLIENT, scenario, options], { timeout: TIMEOUT_MS });
      return { ...(JSON.parse(stdout) as Result), users };
    }

    test('logs in, creates and joins a room, sends, syncs, uploads and downloads', async () => {
      const { sender, media, users } = await play<{ sender: string; media: string }>('talk');
      expect([sender, media]).toEqual([users[0]?.userId, 'some bytes']);
    });

    test('repeats a login and a ring beyond their rates after the wait, and succeeds', async () => {
      const result = await play<{ wrong: string; login: Repeated; rings: Repeated; events: number }>('wait');
      expect([result.wrong, result.events]).toEqual(['M_FORBIDDEN', 3]);
      for (const [waits, tookMs] of [result.login, result.rings]) {
        expect(waits).toHaveLength(1);
        expect(waits[0]).toBeGreaterThan(0);
        expect(waits[0]).toBeLessThanOrEqual(WINDOW_MS);
        expect(tookMs).toBeGreaterThanOrEqual(waits[0]!);
      }
    });

    test('takes the refusal of a cap for one of a rate, and repeats it every 5 seconds', async () => {
      expect(await play('cap')).toMatchObject({
        first: 'UploadFilterResponse',
        second: ['M_LIMIT_EXCEEDED', null],
        pauses: [5],
      });
    });

    test('talks in an encrypted room', async () => {
      const { decrypted, room, token } = await play<{ decrypted: boolean; room: string; token: string }>('encrypt');
      expect(decrypted).toBe(true);
      const target = `/_matrix/client/v3/rooms/${encodeURIComponent(room)}/messages?dir=b&limit=5`;
      const stored = (await call(upstream.url, 'GET', target, { token })).bytes.toString();
      expect(stored).toContain('m.megolm.v1.aes-sha2');
      expect(stored).not.toContain('a secret');
    });
  });
});
