import 'reflect-metadata';
import { createHmac } from 'node:crypto';
import { Edge } from '../testing/edge.js';
import { Receiver, type Received } from './testing/receiver.js';

const ann = { 'tailscale-user-login': 'ann' };
const DB = 'vm/lab/default/db';

describe('/api/ext/webhooks', () => {
  const ENV = { SVC_ADMINS: 'ann', SVC_WEBHOOK_ALLOW: '127.0.0.0/8' };
  let edge: Edge;
  let receiver: Receiver;

  beforeEach(async () => {
    receiver = await new Receiver().open();
    edge = await new Edge().open(ENV);
    await edge.send('GET', '/api/vms', undefined, ann);
  });

  afterEach(async () => {
    await edge.close();
    await receiver.close();
  });

  const create = async (body: object = {}) => {
    const request = { name: 'chat', url: receiver.url, events: ['task.ended', 'instance.changed'], ...body };
    return edge.send('POST', '/api/ext/webhooks', request, ann);
  };
  /** Over a real connection, so that each turn of a loop also lets the deliveries continue. */
  const read = async (): Promise<string | undefined> => {
    const response = await fetch(`http://${edge.base}/api/ext/webhooks`, { headers: ann });
    return ((await response.json()) as { lastError: string }[])[0]?.lastError;
  };
  const dataOf = ({ body }: Received) =>
    JSON.parse(body) as { type: string; data: { id?: string; ref?: string; status?: string; name?: string } };

  test('send signed messages about changes and ended tasks', async () => {
    const { json } = await create();
    const secret = String(json['secret']);
    await edge.send('POST', '/api/vms/default/web/start', {}, ann);
    const { json: bulk } = await edge.send('POST', '/api/ext/bulk', { action: 'stop', refs: [DB] }, ann);
    const received = await receiver.until(
      (all) =>
        all.some((one) => dataOf(one).data.id === bulk['task']) &&
        all.some((one) => dataOf(one).data.name === 'web' && dataOf(one).data.status === 'Running'),
    );
    for (const { headers, body } of received) {
      const signed = `${String(headers['webhook-id'])}.${String(headers['webhook-timestamp'])}.${body}`;
      const key = Buffer.from(secret.replace('whsec_', ''), 'base64');
      expect(headers['webhook-signature']).toBe(`v1,${createHmac('sha256', key).update(signed).digest('base64')}`);
      expect(headers['content-type']).toMatch(/^application\/json/);
      expect(body).not.toContain('password: secret');
    }
    const ended = received.map(dataOf).find(({ type }) => type === 'task.ended');
    expect(ended?.data).toMatchObject({ kind: 'bulk', status: 'done', caller: 'ann' });
  });

  test('show the secret once, and never the query of the URL', async () => {
    const created = await create();
    expect([created.status, created.json['secret']]).toEqual([201, expect.stringMatching(/^whsec_/)]);
    const list = await edge.send('GET', '/api/ext/webhooks', undefined, ann);
    expect(list.json).toMatchObject([{ name: 'chat', disabled: false, attempts: 0, lastError: '', missed: 0 }]);
    expect(list.body).not.toMatch(/secret|whsec|hidden/);
  });

  test('get another secret, which is shown once', async () => {
    const { json } = await create({ events: ['task.ended'] });
    const path = `/api/ext/webhooks/${String(json['id'])}/rotate`;
    const rotated = await edge.send('POST', path, { overlapHours: 1 }, ann);
    expect([rotated.status, rotated.json['secret']]).toEqual([200, expect.stringMatching(/^whsec_/)]);
    const secrets = [rotated.json['secret'], json['secret']].map((secret) =>
      Buffer.from(String(secret).replace('whsec_', ''), 'base64'),
    );
    const list = await edge.send('GET', '/api/ext/webhooks', undefined, ann);
    expect(list.json).toMatchObject([{ formerSecretUntil: expect.stringMatching(/Z$/) }]);
    expect(list.body).not.toContain('whsec_');
    await edge.send('POST', '/api/ext/bulk', { action: 'stop', refs: [DB] }, ann);
    const [{ headers, body } = {} as Received] = await receiver.until((all) => all.length > 0);
    const signed = `${String(headers['webhook-id'])}.${String(headers['webhook-timestamp'])}.${body}`;
    expect(headers['webhook-signature']).toBe(
      secrets.map((key) => `v1,${createHmac('sha256', key).update(signed).digest('base64')}`).join(' '),
    );
    for (const overlapHours of [-1, 169, 1.5, 'a'])
      expect((await edge.send('POST', path, { overlapHours }, ann)).status).toBe(400);
    expect((await edge.send('POST', path, {}, { 'tailscale-user-login': 'eve' })).status).toBe(404);
  });

  test('are sent again after a failure, and do not follow redirects', async () => {
    const { json } = await create({ events: ['task.ended'] });
    const id = String(json['id']);
    receiver.status = 302;
    await edge.send('POST', '/api/ext/bulk', { action: 'stop', refs: [DB] }, ann);
    await receiver.until((all) => all.length === 1);
    while ((await read()) === '');
    expect(await read()).toBe('The receiver answered with status 302.');
    receiver.status = 200;
    expect((await edge.send('POST', `/api/ext/webhooks/${id}/replay`, {}, ann)).json).toEqual({ status: 'ok' });
    const [first, second] = await receiver.until((all) => all.length === 2);
    expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id']);
    while ((await read()) !== '');
  });

  test('survive a restart of the service', async () => {
    await create({ events: ['task.ended'] });
    await edge.reopen(ENV);
    await edge.send('GET', '/api/vms', undefined, ann);
    await edge.send('POST', '/api/ext/bulk', { action: 'stop', refs: [DB] }, ann);
    await receiver.until((all) => all.length === 1);
    expect(dataOf(receiver.received[0]!).type).toBe('task.ended');
  });

  test.each([
    [{ url: 'http://10.0.0.1/hook' }],
    [{ url: 'http://169.254.169.254/latest' }],
    [{ url: 'http://[::1]:8006/' }],
    [{ url: 'ftp://example.org/' }],
    [{ url: 'https://user:password@example.org/' }],
    [{ url: 'not a URL' }],
    [{ events: [] }],
    [{ events: ['everything'] }],
    [{ name: 'Not a name' }],
    [{ secret: 'whsec_mine' }],
  ])('refuse %j', async (wrong) => {
    const { status } = await create(wrong);
    expect(status).toBe(400);
    expect((await edge.send('GET', '/api/ext/webhooks', undefined, ann)).json).toEqual([]);
  });

  test('refuse private addresses unless the operator allows them, also by name', async () => {
    await edge.reopen({ SVC_ADMINS: 'ann' });
    const literal = await create();
    expect([literal.status, literal.json.error]).toEqual([400, expect.stringContaining('SVC_WEBHOOK_ALLOW')]);
    const named = await create({ url: receiver.url.replace('127.0.0.1', 'localhost'), events: ['task.ended'] });
    expect(named.status).toBe(201);
    await edge.send('GET', '/api/vms', undefined, ann);
    await edge.send('POST', '/api/ext/bulk', { action: 'stop', refs: [DB] }, ann);
    while ((await read()) === '');
    expect(await read()).toContain('SVC_WEBHOOK_ALLOW');
    expect(receiver.received).toEqual([]);
  });

  test('answer 404 for one that does not exist, and 400 for a time that is none', async () => {
    expect((await edge.send('DELETE', '/api/ext/webhooks/000000000000', {}, ann)).json.code).toBe('WEBHOOK_NOT_FOUND');
    const { json } = await create();
    const replay = await edge.send('POST', `/api/ext/webhooks/${String(json['id'])}/replay?since=yesterday`, {}, ann);
    expect(replay.status).toBe(400);
    expect((await edge.send('DELETE', `/api/ext/webhooks/${String(json['id'])}`, {}, ann)).json).toEqual({
      status: 'deleted',
    });
  });
});
