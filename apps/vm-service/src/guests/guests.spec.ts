import 'reflect-metadata';
import { unreachable, Edge } from '../testing/edge.js';

const DB = 'vm/lab/default/db';

describe('guests', () => {
  let edge: Edge;

  beforeEach(async () => {
    edge = await new Edge().open();
  });
  afterEach(() => edge.close());

  const passwords = (): ReadonlyMap<string, string> =>
    (edge.lab.require('guestControl') as unknown as { passwords: Map<string, string> }).passwords;

  describe('information', () => {
    test('has the system, the users and the file systems', async () => {
      const { status, json } = await edge.send('GET', '/api/vms/default/db/guestinfo');
      expect(status).toBe(200);
      expect(json).toEqual({
        os: {
          hostname: 'db',
          id: 'memory',
          name: 'Memory OS',
          prettyName: 'Memory OS 1',
          version: '1',
          kernel: '1.0.0',
        },
        users: [{ name: 'root', loginTime: '1970-01-01T00:00:00.000Z' }],
        filesystems: [
          { disk: 'vda1', mountPoint: '/', type: 'ext4', usedBytes: 1024 ** 3, totalBytes: 20 * 1024 ** 3 },
        ],
      });
    });

    test('is 503 when the agent is unreachable', async () => {
      const { status, json } = await edge.send('GET', '/api/vms/default/web/guestinfo');
      expect([status, json.code]).toEqual([503, 'GUEST_AGENT_UNREACHABLE']);
    });

    test('needs a VM that exists, and a context that answers', async () => {
      expect((await edge.send('GET', '/api/vms/default/none/guestinfo')).status).toBe(404);
      expect((await edge.send('GET', '/api/vms/default/twin/guestinfo')).status).toBe(409);
      edge.lab.engine.disconnect(unreachable);
      const { status, json } = await edge.send('GET', '/api/vms/default/db/guestinfo');
      expect([status, json.code]).toEqual([503, 'BACKEND_UNREACHABLE']);
    });
  });

  describe('passwords', () => {
    const body = { ref: DB, user: 'root', password: 'S3cret-of-the-test' };

    test('are set by administrators only, and are in no answer and no event', async () => {
      await edge.reopen({ SVC_ADMINS: 'ann' });
      const refused = await edge.send('POST', '/api/ext/guest/password', body, { 'tailscale-user-login': 'eve' });
      expect([refused.status, passwords().size]).toEqual([403, 0]);
      const done = await edge.send('POST', '/api/ext/guest/password', body, { 'tailscale-user-login': 'ann' });
      expect([done.status, done.json, passwords().get('db')]).toEqual([200, { status: 'ok' }, body.password]);
      const events = await edge.send('GET', '/api/vms/default/db/events');
      expect(events.json).toEqual(
        expect.arrayContaining([
          expect.objectContaining({ reason: 'set guest password of root', caller: 'ann', type: 'Normal' }),
        ]),
      );
      expect(`${refused.body}${done.body}${events.body}`).not.toContain(body.password);
    });

    test('are in no plan, and a dry run sets none', async () => {
      const { status, body: text } = await edge.send('POST', '/api/ext/guest/password?dryRun=true', body);
      expect([status, passwords().size]).toEqual([200, 0]);
      expect(text).toContain('set password');
      expect(text).not.toContain(body.password);
    });

    test('must be one line, of an account that is named plainly', async () => {
      for (const wrong of [
        { ...body, password: 'two\nlines' },
        { ...body, password: '' },
        { ...body, user: '-rf' },
        { ...body, user: 'a:b' },
        { ...body, ref: 'vm/lab/default' },
      ]) {
        const { status, body: text } = await edge.send('POST', '/api/ext/guest/password', wrong);
        expect(status).toBe(400);
        expect(text).not.toContain('lines');
      }
      expect(passwords().size).toBe(0);
    });
  });

  describe('commands', () => {
    const run = (fields: object, login = '') =>
      edge.send(
        'POST',
        '/api/ext/guest/command',
        { ref: DB, ...fields },
        login ? { 'tailscale-user-login': login } : {},
      );

    test('return the exit code and the output', async () => {
      const { status, json } = await run({ path: '/bin/echo', args: ['a b', '$(id)'] });
      expect(status).toBe(200);
      expect(json).toEqual({ exitCode: 0, stdout: 'a b $(id)\n', stderr: '', isTruncated: false });
    });

    test('are for administrators, and audited without their arguments', async () => {
      await edge.reopen({ SVC_ADMINS: 'ann' });
      expect((await run({ path: '/bin/echo', args: ['secret'] }, 'eve')).status).toBe(403);
      expect((await run({ path: '/bin/echo', args: ['secret'] }, 'ann')).status).toBe(200);
      const { body } = await edge.send('GET', '/api/vms/default/db/events');
      expect(body).toContain('run /bin/echo in guest');
      expect(body).not.toContain('secret');
    });

    test('are refused for a guest that is not running, a program that is missing, and a container', async () => {
      expect((await run({ path: '/bin/echo', ref: 'vm/lab/default/web' })).status).toBe(503);
      expect((await run({ path: '/bin/nope' })).status).toBe(400);
      expect((await run({ path: '/bin/echo', timeoutSeconds: 3600 })).status).toBe(400);
      expect((await run({ path: '/bin/echo', ref: 'ct/lab/default/box' })).status).toBe(404);
    });
  });
});
