import 'reflect-metadata';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ApiTokenStore, DeviceLoginStore, UserGroupsStore } from '@headgate/domain-contracts';
import { WebhookRights } from '@headgate/webhooks';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { LoginRequests } from '../login/login-requests.js';
import { openStream } from '../testing/open-stream.js';
import type { Reply } from '../testing/edge.js';
import { TimedEdge } from '../testing/timed-edge.js';
import { Admission } from './admission.js';

const DB = 'vm/lab/default/db';
const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const ROLES = `
admins: [ann]
roles: [{ group: Staff, folder: /, role: admin }, { login: carl, folder: prod, role: viewer }]
groupsHeader: X-Groups
`;
type Headers = Record<string, string>;
const as = (login: string, groups?: string): Headers => ({
  'tailscale-user-login': login,
  ...(groups !== undefined && { 'x-groups': groups }),
});
const ann = as('ann');

describe('the groups of users who are not present', () => {
  let edge: TimedEdge;

  const open = async (config = ROLES): Promise<void> => {
    edge = new TimedEdge();
    const file = join(edge.folder, 'headgate.yaml');
    writeFileSync(file, config);
    await edge.open({}, ['--config', file]);
    await edge.send('POST', '/api/folders', { path: 'prod' }, ann);
    await edge.send('POST', '/api/folders/members', { path: 'prod', ref: DB }, ann);
  };
  afterEach(() => edge.close());

  const tokenOf = async (headers: Headers): Promise<Headers> => {
    const { json } = await edge.send('POST', '/api/ext/tokens', { name: 'ci', actions: ['power'], days: 90 }, headers);
    return { authorization: `Bearer ${String(json['token'])}` };
  };
  const names = async (headers: Headers): Promise<string[]> =>
    ((await edge.send('GET', '/api/vms', undefined, headers)).json as unknown as { name: string }[]).map(
      ({ name }) => name,
    );
  const stop = async (headers: Headers): Promise<number> =>
    (await edge.send('POST', '/api/vms/default/db/stop?dryRun=true', {}, headers)).status;
  const remove = async (headers: Headers): Promise<number> =>
    (await edge.send('DELETE', '/api/vms/default/db?dryRun=true', undefined, headers)).status;
  const visit = (headers: Headers): Promise<Reply> => edge.send('GET', '/api/whoami', undefined, headers);
  const canAct = (login: string): boolean =>
    edge.service.app.get(Admission, { strict: false }).ofOwner({ login }).grant.allowsFolder('power', 'prod');

  describe('behind a proxy', () => {
    test('give their tokens, schedules and webhooks the roles of the groups, and no more', async () => {
      await open();
      const token = await tokenOf(as('bob', 'staff'));
      expect([await names(token), await stop(token), await remove(token)]).toEqual([
        ['db', 'twin', 'web', 'twin'],
        200,
        403,
      ]);
      expect([canAct('bob'), canAct('carl'), canAct('')]).toEqual([true, false, false]);
      const webhooks = edge.service.app.get(WebhookRights, { strict: false });
      expect(['bob', 'eve'].map((login) => webhooks.grantOf(login).allowsAll('read'))).toEqual([true, false]);
      const job = { action: 'stop', query: { q: 'db' } };
      const schedule = { name: 'Night', cron: '@daily', timeZone: 'UTC', job };
      const { json } = await edge.send('POST', '/api/ext/schedules', schedule, as('bob', 'staff'));
      const path = `/api/ext/schedules/${String(json['id'])}`;
      await edge.send('POST', `${path}/run`, undefined, as('bob', 'staff'));
      const lastRun = async () => (await edge.send('GET', path, undefined, ann)).json['lastRun'] as object | null;
      for (let turn = 0; turn < 1000 && !Object.hasOwn((await lastRun()) ?? {}, 'endedAt'); turn++);
      const { ref } = edge.lab.engine.vm({ kind: 'vm', context: 'lab', namespace: 'default', name: 'db' });
      expect([await lastRun(), edge.lab.engine.vm(ref).status]).toMatchObject([{ status: 'done' }, 'Stopped']);
    });

    test('survive a restart, and end some days after the last request', async () => {
      await open();
      const token = await tokenOf(as('bob', 'staff'));
      await edge.reopen({}, ['--config', join(edge.folder, 'headgate.yaml')]);
      await names(ann);
      edge.pass(6 * DAY_MS);
      expect(await stop(token)).toBe(200);
      edge.pass(DAY_MS);
      expect([await names(token), await stop(token), canAct('bob')]).toEqual([[], 404, false]);
      await visit(as('bob', 'staff'));
      expect(await stop(token)).toBe(200);
    });

    test('end with a request of the user without the group, or without the header', async () => {
      await open();
      const token = await tokenOf(as('bob', 'staff, dev'));
      for (const headers of [as('bob', 'dev'), as('bob')]) {
        await visit(as('BOB', 'STAFF'));
        expect(await stop(token)).toBe(200);
        await visit(headers);
        expect(await stop(token)).toBe(404);
      }
    });

    test('are not those that a request claims with a token, without a login, or in two headers', async () => {
      await open();
      const token = await tokenOf(as('carl', 'staff'));
      await visit(as('carl', 'dev'));
      await visit({ ...token, 'x-groups': 'staff' });
      await visit({ ...token, ...as('carl', 'staff') });
      await visit({ 'x-groups': 'staff' });
      await visit({ ...as('carl'), 'x-groups': ['staff', 'staff'] } as unknown as Headers);
      expect([await stop(token), await names(token)]).toEqual([403, ['db']]);
      const stored = edge.service.app.get(UserGroupsStore, { strict: false }).all();
      expect(stored).toEqual([{ login: 'carl', groups: ['dev'], at: expect.any(String) }]);
    });

    test('close the streams of a token when they end', async () => {
      await open();
      const token = await tokenOf(as('bob', 'staff'));
      const stream = await openStream(edge, token);
      await visit(as('bob', 'dev'));
      await stream.ended;
    });

    test('are explained with their time', async () => {
      await open();
      await visit(as('bob', 'staff'));
      const ask = async (query: string, headers = ann) =>
        (await edge.send('GET', `/api/ext/access?${query}&ns=default&name=db`, undefined, headers)).json;
      const at = new Date(edge.now).toISOString();
      const until = new Date(edge.now + 7 * DAY_MS).toISOString();
      const answer = await ask('user=bob');
      expect(answer).toMatchObject({ user: 'bob', groups: { names: ['staff'], at, until } });
      const answers = answer['answers'] as { action: string }[];
      expect(answers.find(({ action }) => action === 'power')).toMatchObject({
        allowed: true,
        by: 'role',
        role: { subject: { group: 'Staff' } },
      });
      expect((await ask('user=carl'))['groups']).toBeUndefined();
      edge.pass(7 * DAY_MS);
      expect((await ask('user=bob'))['groups']).toBeUndefined();
    });

    test('give nothing and are not stored with 0 days', async () => {
      await open(`${ROLES}groupDays: 0\n`);
      const token = await tokenOf(as('bob', 'staff'));
      expect([await stop(token), await stop(as('bob', 'staff')), canAct('bob')]).toEqual([404, 200, false]);
      expect(edge.service.app.get(UserGroupsStore, { strict: false }).all()).toEqual([]);
    });
  });

  describe('of a login provider', () => {
    const LOGIN = `${ROLES}
login: { proxyIdentity: true, providers: [
  { id: corp, name: Corp, issuer: 'http://127.0.0.1:9', clientId: x, groupsClaim: groups },
  { id: other, name: Other, issuer: 'http://127.0.0.1:9', clientId: x, groupsClaim: groups } ] }
`;
    /** What the callback of the provider does after the provider has vouched for the user. */
    const logIn = async (login: string, groups: string[]): Promise<Headers> => {
      const raw = { headers: { host: 'localhost' }, rawHeaders: [], socket: { remoteAddress: '127.0.0.1' } };
      const request = { method: 'GET', routeOptions: { url: '' }, raw } as unknown as FastifyRequest;
      let cookie = '';
      const reply = { header: (_name: string, value: string) => (cookie = value) } as unknown as FastifyReply;
      const provider = login.split(':')[0] ?? '';
      await edge.service.app.get(LoginRequests, { strict: false }).open(request, reply, {
        login,
        name: '',
        groups,
        provider,
      });
      return { cookie: cookie.split(';')[0] ?? '', origin: 'http://localhost:8006' };
    };
    /** A program that the user lets in with its code. */
    const deviceOf = async (session: Headers): Promise<Headers> => {
      const path = '/api/ext/login/device';
      const { json } = await edge.send('POST', path, { machine: 'laptop', actions: ['power'] });
      expect((await edge.send('POST', `${path}/approve`, { userCode: json['userCode'] }, session)).status).toBe(200);
      const { json: issued } = await edge.send('POST', `${path}/token`, { deviceCode: json['deviceCode'] });
      return { authorization: `Bearer ${String(issued['token'])}` };
    };

    test('give a program that the user has let in their roles, until the next login or some days', async () => {
      await open(LOGIN);
      const device = await deviceOf(await logIn('corp:bob', ['staff']));
      const other = await deviceOf(await logIn('other:bob', []));
      expect([await stop(device), await stop(other)]).toEqual([200, 404]);
      await logIn('corp:bob', ['dev']);
      expect(await stop(device)).toBe(404);
      await logIn('corp:bob', ['staff']);
      await logIn('other:bob', ['dev']);
      expect(await stop(device)).toBe(200);
      edge.pass(7 * DAY_MS);
      expect(await stop(device)).toBe(404);
      expect(edge.service.app.get(DeviceLoginStore, { strict: false }).all()).toEqual([]);
      expect(edge.service.app.get(ApiTokenStore, { strict: false }).all()).toHaveLength(2);
    });

    test('end when an administrator ends a session of the user, and those of others do not', async () => {
      await open(LOGIN);
      const bob = await deviceOf(await logIn('corp:bob', ['staff']));
      const eve = await deviceOf(await logIn('corp:eve', ['staff']));
      const { json } = await edge.send('GET', '/api/ext/sessions', undefined, ann);
      const { id } = (json as unknown as { id: string; login: string }[]).find(({ login }) => login === 'corp:bob')!;
      expect((await edge.send('DELETE', `/api/ext/sessions/${id}`, {}, ann)).status).toBe(200);
      expect([await stop(bob), await stop(eve)]).toEqual([404, 200]);
    });

    test('end when the account of their login is disabled or deleted', async () => {
      await open(LOGIN);
      const stored = () =>
        edge.service.app
          .get(UserGroupsStore, { strict: false })
          .all()
          .map(({ login }) => login);
      await edge.send('POST', '/api/ext/accounts', { login: 'dora' }, ann);
      await visit(as('dora', 'staff'));
      expect([stored(), canAct('dora')]).toEqual([['dora'], true]);
      await edge.send('PATCH', '/api/ext/accounts/dora', { disabled: true }, ann);
      expect([stored(), canAct('dora')]).toEqual([[], false]);
      await edge.send('PATCH', '/api/ext/accounts/dora', { disabled: false }, ann);
      await visit(as('dora', 'staff'));
      await edge.send('DELETE', '/api/ext/accounts/dora', {}, ann);
      expect(stored()).toEqual([]);
    });

    test('of a request that the clock dates back do not count longer', async () => {
      await open(LOGIN);
      const device = await deviceOf(await logIn('corp:bob', ['staff']));
      edge.pass(-HOUR_MS);
      expect(canAct('corp:bob')).toBe(false);
      expect(await stop(device)).toBe(404);
    });
  });
});
