import 'reflect-metadata';
import { writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { MessageChannelView, MessageRuleView, MessageView } from '@headgate/api-contracts';
import { Clock, MESSAGE_KINDS } from '@headgate/domain-contracts';
import { MessageDispatcher } from '@headgate/messages';
import { buildVm, withStatus } from '@headgate/testing';
import { jest } from '@jest/globals';
import { Edge } from '../testing/edge.js';
import { MailPeer } from './testing/mail-peer.js';

const MESSAGES = '/api/ext/messages';
const CHANNELS = `${MESSAGES}/channels`;
const RULES = `${MESSAGES}/rules`;
const MINUTE_MS = 60_000;
const as = (login: string) => ({ 'tailscale-user-login': login });
const ann = as('ann');
const vera = as('vera');

const CONFIG = `
admins: [ann]
roles:
  - { login: vera, folder: prod, role: viewer }
webhookAllow: [127.0.0.0/8]
`;

describe(MESSAGES, () => {
  let edge: Edge;
  let peer: MailPeer;
  let port: number;
  let aheadMs: number;

  const dispatcher = (): MessageDispatcher => edge.service.app.get(MessageDispatcher, { strict: false });

  /** The clock of the service, which a test sets forward. */
  const follow = (): void => {
    const clock = edge.service.app.get(Clock, { strict: false });
    const now = clock.now.bind(clock);
    jest.spyOn(clock, 'now').mockImplementation(() => now() + aheadMs);
  };
  const look = async (): Promise<void> => {
    dispatcher().wake();
    await dispatcher().settled();
  };
  const pass = async (ms: number): Promise<void> => {
    aheadMs += ms;
    await look();
  };

  const file = (): string => join(edge.folder, 'config.yaml');

  beforeEach(async () => {
    aheadMs = 0;
    peer = new MailPeer(undefined);
    port = await peer.open();
    edge = new Edge();
    writeFileSync(file(), CONFIG);
    await edge.open({}, ['--config', file()]);
    follow();
    await edge.send('GET', '/api/vms', undefined, ann);
    await edge.send('POST', '/api/folders', { path: 'prod' }, ann);
    await edge.send('POST', '/api/folders/members', { path: 'prod', ref: 'vm/lab/default/db' }, ann);
  });
  afterEach(async () => {
    await edge.close();
    await peer.close();
    jest.restoreAllMocks();
  });

  const mail = (more: object = {}) => ({
    host: '127.0.0.1',
    port,
    security: 'none',
    user: 'headgate',
    password: 'correct horse',
    from: 'headgate@example.org',
    recipients: ['ops@example.org'],
    ...more,
  });
  const createChannel = async (more: object = {}): Promise<MessageChannelView> => {
    const { status, json } = await edge.send(
      'POST',
      CHANNELS,
      { name: 'Mail', shared: true, mail: mail(), ...more },
      ann,
    );
    expect([status, json.error]).toEqual([201, undefined]);
    return json as unknown as MessageChannelView;
  };
  const ruleOf = (channel: string, more: object = {}) => ({ name: 'All', channel, kinds: MESSAGE_KINDS, ...more });
  const createRule = async (channel: string, more: object = {}, headers = ann): Promise<MessageRuleView> => {
    const { status, json } = await edge.send('POST', RULES, ruleOf(channel, more), headers);
    expect([status, json.error]).toEqual([201, undefined]);
    await look();
    return json as unknown as MessageRuleView;
  };
  const messages = async (headers = ann): Promise<MessageView[]> =>
    (await edge.send('GET', MESSAGES, undefined, headers)).json as unknown as MessageView[];
  const fail = (name: string): void =>
    edge.lab.engine.put(withStatus(buildVm({ ref: { context: 'lab', name } }), 'CrashLoopBackOff'));
  const untilEnded = async (count: number, headers = ann): Promise<MessageView[]> => {
    for (;;) {
      const found = await messages(headers);
      if (found.filter(({ endedAt }) => endedAt !== null).length >= count) return found;
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  const untilTaskEnded = async (id: string): Promise<void> => {
    while ((await edge.send('GET', `/api/tasks/${id}`, undefined, ann)).json.status === 'running')
      await new Promise((resolve) => setImmediate(resolve));
  };
  const untilSeen = async (count: number): Promise<void> => {
    for (;;) {
      await look();
      const rules = (await edge.send('GET', RULES, undefined, ann)).json as unknown as MessageRuleView[];
      if (rules.some(({ waitingEvents }) => waitingEvents >= count)) return;
      await new Promise((resolve) => setImmediate(resolve));
    }
  };

  test('a failed VM becomes one mail, also after a restart', async () => {
    const { id } = await createChannel();
    await createRule(id);
    fail('web');
    await untilSeen(1);
    await pass(MINUTE_MS);
    const [sent] = await untilEnded(1);
    expect(sent).toMatchObject({ status: 'sent', events: 1, reason: '', severity: 'error' });
    expect(peer.received.map(({ recipients }) => recipients)).toEqual([['ops@example.org']]);
    await edge.reopen({}, ['--config', file()]);
    follow();
    await edge.send('GET', '/api/vms', undefined, ann);
    for (let round = 0; round < 5; round++) await pass(MINUTE_MS);
    expect(peer.received.length).toBe(1);
  });

  test('a rule of a user names only the instances that they may read', async () => {
    const { id } = await createChannel();
    await createRule(id, { name: 'Mine' }, vera);
    for (const name of ['web', 'db']) fail(name);
    await untilSeen(1);
    await pass(MINUTE_MS);
    await untilEnded(1, vera);
    expect(peer.received.length).toBe(1);
    expect(peer.received[0]?.source).toContain('db in lab');
    expect(peer.received[0]?.source).not.toContain('web in lab');
  });

  test('a rule of a user reports failed bulk tasks of instances that they may read, and no others', async () => {
    const { id } = await createChannel();
    await createRule(id, { name: 'Mine', kinds: ['task.failed'] }, vera);
    for (const name of ['db', 'web']) {
      // Only a paused VM can be unpaused.
      edge.lab.engine.put(withStatus(buildVm({ ref: { context: 'lab', name } }), 'Stopped'));
      const body = { action: 'unpause', refs: [`vm/lab/default/${name}`] };
      const { json } = await edge.send('POST', '/api/ext/bulk', body, ann);
      await untilTaskEnded(String(json.task));
    }
    await untilSeen(1);
    await pass(MINUTE_MS);
    const [sent] = await untilEnded(1, vera);
    expect(sent).toMatchObject({ status: 'sent', events: 1 });
    expect(peer.received.length).toBe(1);
  });

  test('a rule of a folder is about the instances in it', async () => {
    const { id } = await createChannel();
    await createRule(id, { folder: 'prod' });
    for (const name of ['web', 'db']) fail(name);
    await untilSeen(1);
    await pass(MINUTE_MS);
    await untilEnded(1);
    expect(peer.received[0]?.source).not.toContain('web in lab');
  });

  test('shows no secret, in no answer and no entry of the journal', async () => {
    const { id } = await createChannel();
    const answers = [await edge.send('GET', CHANNELS, undefined, ann)];
    answers.push(await edge.send('PATCH', `${CHANNELS}/${id}`, { name: 'Post' }, ann));
    peer.password = 'another';
    answers.push(await edge.send('POST', `${CHANNELS}/${id}/test`, undefined, ann));
    answers.push(await edge.send('PATCH', `${CHANNELS}/${id}`, { mail: { host: 'localhost' } }, ann));
    answers.push(await edge.send('GET', '/api/ext/journal', undefined, ann));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 400, 200]);
    expect(answers.map(({ body }) => body).join()).not.toMatch(/correct horse|Y29ycmVjdCBob3JzZ/);
    expect(answers[2]?.json).toEqual({ sent: false, reason: expect.stringMatching(/^127.0.0.1 answered: 535/) });
    expect(answers[3]?.json.error).toContain('mail.password');
    expect(peer.received).toEqual([]);
  });

  test('a test of a channel sends one message', async () => {
    const { id } = await createChannel();
    const { json } = await edge.send('POST', `${CHANNELS}/${id}/test`, undefined, ann);
    expect([json, peer.received.length]).toEqual([{ sent: true, reason: '' }, 1]);
  });

  test('users without the right see the names of shared channels only', async () => {
    await createChannel();
    await createChannel({ name: 'Boss', shared: false });
    const { json } = await edge.send('GET', CHANNELS, undefined, vera);
    expect(json).toMatchObject([{ name: 'Mail', target: null }]);
  });

  test('a channel that is not shared any more sends nothing of other users', async () => {
    const { id } = await createChannel();
    await createRule(id, {}, vera);
    await edge.send('PATCH', `${CHANNELS}/${id}`, { shared: false }, ann);
    fail('db');
    await createRule(id, { name: 'Admin', folder: 'prod' });
    for (let round = 0; round < 5; round++) await pass(MINUTE_MS);
    expect(await messages(vera)).toEqual([]);
  });

  test.each<[string, object]>([
    ['recipients', { recipients: Array.from({ length: 10_000 }, (_, index) => `a${index}@example.org`) }],
    ['recipients', { recipients: ['ops@example.org\r\nBcc: eve@example.org'] }],
    ['recipients', { recipients: ['"Ops" <ops@example.org>, eve@example.org'] }],
    ['from', { from: 'a@example.org\r\nRCPT TO:<eve@example.org>' }],
    ['user', { user: 'a\r\nMAIL FROM:<eve@example.org>' }],
    ['host', { host: 'mail.example.org\r\n' }],
    ['host', { host: '10.0.0.25', security: 'tls' }],
    ['security', { host: 'mail.example.org', security: 'none' }],
    ['password', { password: '' }],
  ])('refuses a wrong %s of a mail server, and names the field', async (field, more) => {
    const { status, json } = await edge.send('POST', CHANNELS, { name: 'Mail', mail: mail(more) }, ann);
    expect([status, json.error]).toEqual([400, expect.stringContaining(field)]);
  });

  test.each<[string, object]>([
    ['server', { server: 'http://ntfy.example.org', topic: 'ops', token: 'tk_a' }],
    ['server', { server: 'https://ntfy.example.org/ops', topic: 'ops' }],
    ['server', { server: 'https://10.0.0.1', topic: 'ops' }],
    ['topic', { server: 'https://ntfy.example.org', topic: 'a/b' }],
    ['token', { server: 'https://ntfy.example.org', topic: 'ops', token: 'a\r\nX: y' }],
  ])('refuses a wrong %s of ntfy, and names the field', async (field, ntfy) => {
    const { status, json } = await edge.send('POST', CHANNELS, { name: 'Push', ntfy }, ann);
    expect([status, json.error]).toEqual([400, expect.stringContaining(field)]);
  });

  test('a channel has exactly one target', async () => {
    const both = { name: 'Both', mail: mail(), webhook: { webhook: '0123456789ab' } };
    for (const body of [both, { name: 'None' }]) {
      const { status, json } = await edge.send('POST', CHANNELS, body, ann);
      expect([status, json.error]).toEqual([400, expect.stringContaining('exactly one')]);
    }
  });

  test('dry runs return the plan and change nothing', async () => {
    const plan = { steps: [expect.any(Object)], warnings: [], refusals: [] };
    const body = { name: 'Mail', mail: mail() };
    expect((await edge.send('POST', `${CHANNELS}?dryRun=true`, body, ann)).json).toEqual(plan);
    expect((await edge.send('GET', CHANNELS, undefined, ann)).json).toEqual([]);
    const { id } = await createChannel();
    const patch = await edge.send('PATCH', `${CHANNELS}/${id}?dryRun=true`, { name: 'Other' }, ann);
    const remove = await edge.send('DELETE', `${CHANNELS}/${id}?dryRun=true`, undefined, ann);
    expect([patch.json, remove.json]).toEqual([plan, plan]);
    expect((await edge.send('POST', `${RULES}?dryRun=true`, ruleOf(id), ann)).json).toEqual(plan);
    const rule = await createRule(id);
    const change = await edge.send('PATCH', `${RULES}/${rule.id}?dryRun=true`, { name: 'Other' }, ann);
    const deletion = await edge.send('DELETE', `${RULES}/${rule.id}?dryRun=true`, undefined, ann);
    expect([change.json, deletion.json]).toEqual([plan, plan]);
    expect((await edge.send('GET', RULES, undefined, ann)).json).toMatchObject([{ name: 'All' }]);
    expect((await edge.send('GET', CHANNELS, undefined, ann)).json).toMatchObject([{ name: 'Mail' }]);
  });

  describe('over HTTP', () => {
    const requests: { readonly url: string; readonly headers: Record<string, unknown>; readonly body: string }[] = [];
    let server: Server;
    let status = 200;

    beforeEach(async () => {
      requests.length = 0;
      status = 200;
      server = createServer((request, response) => {
        let body = '';
        request.on('data', (chunk: Buffer) => (body += chunk.toString()));
        request.on('end', () => {
          requests.push({ url: request.url ?? '', headers: request.headers, body });
          response.writeHead(status).end('{}');
        });
      }).listen(0, '127.0.0.1');
      await new Promise((resolve) => server.once('listening', resolve));
    });
    afterEach(() => new Promise((resolve) => server.close(resolve)));

    const base = (): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

    test('ntfy gets the topic, the priority and the token as its documentation says', async () => {
      const { id } = await createChannel({ mail: undefined, ntfy: { server: base(), topic: 'ops', token: 'tk_a' } });
      const { json } = await edge.send('POST', `${CHANNELS}/${id}/test`, undefined, ann);
      expect(json).toEqual({ sent: true, reason: '' });
      expect(requests[0]).toMatchObject({ url: '/', headers: { authorization: 'Bearer tk_a' } });
      expect(JSON.parse(requests[0]?.body ?? '')).toMatchObject({
        topic: 'ops',
        priority: 2,
        title: '[Headgate] Test of the channel Mail',
        sequence_id: expect.stringMatching(/^[0-9a-f]{32}$/),
      });
      status = 403;
      const refused = await edge.send('POST', `${CHANNELS}/${id}/test`, undefined, ann);
      expect(refused.json).toEqual({ sent: false, reason: expect.stringMatching(/answered with status 403.$/) });
    });

    test('a webhook gets a signed message', async () => {
      const hook = { name: 'chat', url: `${base()}/hook`, events: ['task.ended'] };
      const { id: webhook } = (await edge.send('POST', '/api/ext/webhooks', hook, ann)).json;
      const { id } = await createChannel({ mail: undefined, webhook: { webhook } });
      const { json } = await edge.send('POST', `${CHANNELS}/${id}/test`, undefined, ann);
      expect(json).toEqual({ sent: true, reason: '' });
      expect(requests[0]?.headers['webhook-signature']).toMatch(/^v1,/);
      expect(JSON.parse(requests[0]?.body ?? '')).toMatchObject({ type: 'message', data: { severity: 'info' } });
      await edge.send('POST', `/api/ext/webhooks/${String(webhook)}/rotate`, {}, ann);
      await edge.send('POST', `${CHANNELS}/${id}/test`, undefined, ann);
      expect(requests[1]?.headers['webhook-signature']).toMatch(/^v1,\S{44} v1,\S{44}$/);
    });
  });
});
