import 'reflect-metadata';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Edge } from '../testing/edge.js';
import { Receiver } from './testing/receiver.js';

const DB = 'vm/lab/default/db';
const WEB = 'vm/lab/default/web';
const as = (login: string) => ({ 'tailscale-user-login': login });
const ann = as('ann');
const vera = as('vera');
const HOOKS = '/api/ext/webhooks';

const CONFIG = `
admins: [ann]
webhookAllow: [127.0.0.0/8]
roles:
  - { login: otto, folder: test, role: operator }
`;

describe('webhooks of users with roles', () => {
  let edge: Edge;
  let receiver: Receiver;
  let role: string;

  beforeEach(async () => {
    receiver = await new Receiver().open();
    edge = new Edge();
    const file = join(edge.folder, 'roles.yaml');
    writeFileSync(file, CONFIG);
    await edge.open({}, ['--config', file]);
    for (const path of ['prod', 'test']) await edge.send('POST', '/api/folders', { path }, ann);
    await edge.send('POST', '/api/folders/members', { path: 'prod', ref: DB }, ann);
    await edge.send('POST', '/api/folders/members', { path: 'test', ref: WEB }, ann);
    const assigned = await edge.send(
      'POST',
      '/api/ext/roles',
      { subject: { user: 'vera' }, scope: { folder: 'prod' }, role: 'viewer' },
      ann,
    );
    expect(assigned.status).toBe(201);
    role = String(assigned.json['id']);
  });

  afterEach(async () => {
    await edge.close();
    await receiver.close();
  });

  const create = async (headers: Record<string, string>, body: object = {}) =>
    edge.send(
      'POST',
      HOOKS,
      { name: 'hook', url: receiver.url, events: ['instance.changed', 'instance.removed', 'task.ended'], ...body },
      headers,
    );
  const listed = async (headers: Record<string, string>) =>
    (await edge.send('GET', HOOKS, undefined, headers)).json as unknown as Record<string, unknown>[];
  const bodies = () =>
    receiver.received.map(({ body }) => JSON.parse(body) as { type: string; data: Record<string, unknown> });
  /** Over a real connection, so that each turn of a loop also lets the deliveries continue. */
  const read = async (headers: Record<string, string>): Promise<Record<string, unknown>[]> =>
    (await (await fetch(`http://${edge.base}${HOOKS}`, { headers })).json()) as Record<string, unknown>[];

  test('get the members of a bulk task that their creator sees, and no word of the others', async () => {
    expect((await create(vera)).status).toBe(201);
    await edge.send('POST', '/api/ext/bulk', { action: 'stop', refs: [DB, WEB] }, ann);
    await receiver.until(() => bodies().some(({ type }) => type === 'task.ended'));
    const ended = bodies().find(({ type }) => type === 'task.ended');
    expect(ended?.data).toMatchObject({
      kind: 'bulk',
      ref: '',
      status: 'done',
      members: [{ ref: DB, status: 'done' }],
    });
    expect(JSON.stringify(bodies())).not.toContain('web');
  });

  test('belong to their creator, and to the administrators', async () => {
    const { json } = await create(vera, { scope: { q: 'db' } });
    const path = `${HOOKS}/${String(json['id'])}`;
    expect((await create(as('otto'))).status).toBe(201);
    expect(await listed(vera)).toMatchObject([{ creator: 'vera', scope: { q: 'db' } }]);
    expect((await listed(ann)).map(({ creator }) => creator)).toEqual(['vera', 'otto']);
    for (const [method, suffix, body] of [
      ['PATCH', '', { scope: {} }],
      ['DELETE', '', {}],
      ['POST', '/rotate', {}],
      ['POST', '/replay', {}],
      ['POST', '/test', {}],
    ] as const) {
      const refused = await edge.send(method, path + suffix, body, as('otto'));
      expect([refused.status, refused.json.code]).toEqual([404, 'WEBHOOK_NOT_FOUND']);
    }
    expect((await edge.send('PATCH', path, { scope: { folder: 'prod' } }, vera)).json).toMatchObject({
      scope: { folder: 'prod' },
    });
    expect((await edge.send('POST', `${path}/rotate`, {}, vera)).json['secret']).toMatch(/^whsec_/);
    expect((await edge.send('DELETE', path, {}, ann)).status).toBe(200);
    const roleless = await create(as('eve'));
    expect([roleless.status, roleless.json.code]).toEqual([403, 'NOT_PERMITTED']);
  });

  test('are paused when their creator loses their role, with the reason, and send nothing more', async () => {
    await create(vera);
    await edge.send('DELETE', `/api/ext/roles/${role}`, {}, ann);
    while ((await read(ann))[0]?.['paused'] === undefined);
    expect((await listed(vera))[0]?.['paused']).toContain('vera has no right to read any instance');
    await edge.send('POST', '/api/ext/bulk', { action: 'stop', refs: [DB] }, ann);
    const outside = await create(ann, { events: ['task.ended'] });
    expect(outside.status).toBe(201);
    await edge.send('POST', '/api/ext/bulk', { action: 'start', refs: [DB] }, ann);
    await receiver.until((all) => all.length === 1);
    expect(receiver.received[0]?.headers['webhook-id']).toContain(String(outside.json['id']));
  });

  test('send a signed test on request, at most one in 5 seconds', async () => {
    const { json } = await create(vera);
    const path = `${HOOKS}/${String(json['id'])}/test`;
    expect((await edge.send('POST', path, {}, vera)).json).toEqual({ result: 'accepted', reason: '' });
    expect((await edge.send('POST', path, {}, vera)).status).toBe(409);
    const [{ headers } = { headers: {} }] = await receiver.until((all) => all.length === 1);
    expect([bodies()[0]?.type, headers]).toEqual([
      'webhook.test',
      expect.objectContaining({ 'webhook-signature': expect.stringMatching(/^v1,/) }),
    ]);
  });

  test('get the removal of an instance that is moved out of the folder', async () => {
    await create(vera, { events: ['instance.removed'] });
    await edge.send('POST', '/api/folders/members', { path: 'test', ref: DB }, ann);
    await receiver.until((all) => all.length === 1);
    expect(bodies()).toMatchObject([{ type: 'instance.removed', data: { ref: DB } }]);
    expect(receiver.received[0]?.body).not.toContain('test');
  });

  test('do not reach private addresses that the operator has not allowed', async () => {
    const { status, json } = await create(vera, { url: 'http://169.254.169.254/latest' });
    expect([status, json.code]).toEqual([400, 'INVALID_INPUT']);
  });
});
