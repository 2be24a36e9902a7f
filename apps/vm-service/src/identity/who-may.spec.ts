import 'reflect-metadata';
import { once } from 'node:events';
import { Edge } from '../testing/edge.js';

describe('the edge', () => {
  let edge: Edge;

  beforeEach(async () => {
    edge = await new Edge().open();
  });

  afterEach(() => edge.close());

  describe('with an allowlist', () => {
    const ann = { 'tailscale-user-login': 'Ann@example.org' };
    const bob = { 'tailscale-user-login': 'bob@example.org' };

    beforeEach(async () => {
      await edge.reopen({ SVC_ADMINS: 'ann@example.org' });
    });

    test('lets only administrators change anything', async () => {
      for (const [method, path, body] of [
        ['POST', '/api/vms', { name: 'new', image: 'tiny' }],
        ['POST', '/api/vms/default/web/start'],
        ['POST', '/api/vms/default/web/tags', { tag: 'a', on: true }],
        ['POST', '/api/vms/default/web/start?dryRun=true'],
        ['DELETE', '/api/vms/default/web'],
        ['POST', '/api/vms/default/web/snapshots'],
        ['POST', '/api/vms/default/web/snapshots/one/restore'],
        ['DELETE', '/api/vms/default/web/snapshots/one'],
        ['POST', '/api/vms/default/web/clone', { target: 'copy' }],
        ['POST', '/api/vms/default/web/template', { on: true }],
        ['POST', '/api/cts', { name: 'a', image: 'b' }],
        ['POST', '/api/doctor/fix'],
      ] as const) {
        const answer = await edge.send(method, path, body, bob);
        expect([path, answer.status, answer.json.code]).toEqual([path, 403, 'NOT_PERMITTED']);
      }
      expect((await edge.send('POST', '/api/vms/default/web/start', undefined, ann)).status).toBe(200);
      expect((await edge.send('GET', '/api/whoami', undefined, bob)).json).toEqual({
        login: 'bob@example.org',
        name: '',
        admin: false,
        enforced: true,
        trust: 'users',
      });
    });

    test('lets everyone read, without secrets', async () => {
      expect((await edge.send('GET', '/api/vms', undefined, bob)).status).toBe(200);
      expect((await edge.send('GET', '/api/vms/default/web', undefined, bob)).json).toMatchObject({ userData: '***' });
      expect((await edge.send('GET', '/api/vms/default/web', undefined, ann)).json).toMatchObject({
        userData: 'password: secret',
      });
    });

    test('lets only administrators type into a console', async () => {
      const tty = edge.socket('/api/tty/default/db', bob);
      let seen = '';
      tty.on('message', (data: Buffer) => (seen += String(data)));
      await once(tty, 'open');
      tty.send(Buffer.from('secret\n'));
      const admin = edge.socket('/api/tty/default/db', ann);
      await once(admin, 'open');
      admin.send(Buffer.from('hello\n'));
      while (!seen.includes('hello')) await once(tty, 'message');
      expect(seen).not.toContain('secret');
      tty.close();
      admin.close();
    });
  });

  test.each(['http://evil.example.org', 'null', 'http://localhost:9999'])(
    'refuses a change from the page %s, but no read',
    async (origin) => {
      const change = await edge.send('POST', '/api/vms/default/web/start', undefined, { origin });
      expect([change.status, change.json.code]).toEqual([403, 'FOREIGN_ORIGIN']);
      expect((await edge.send('GET', '/api/vms', undefined, { origin })).status).toBe(200);
    },
  );

  test('refuses every request for a host name that is not its own', async () => {
    for (const path of ['/api/vms', '/api/whoami', '/metrics', '/']) {
      const answer = await edge.send('GET', path, undefined, { host: 'rebound.example.org' });
      expect([path, answer.status, answer.json.code]).toEqual([path, 403, 'UNKNOWN_HOST']);
    }
  });
});
