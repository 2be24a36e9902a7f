import 'reflect-metadata';
import { sshKeyLine } from '../testing/ssh-key-line.js';
import { Edge } from '../testing/edge.js';

const ann = { 'tailscale-user-login': 'ann' };
const bob = { 'tailscale-user-login': 'bob' };

describe('/api/ext/ssh-keys', () => {
  let edge: Edge;

  beforeEach(async () => {
    edge = await new Edge().open({ SVC_ADMINS: 'ann,bob' });
  });
  afterEach(() => edge.close());

  const add = (key: string, headers = ann, more = {}) =>
    edge.send('POST', '/api/ext/ssh-keys', { key, ...more }, headers);
  const names = async (headers = ann) =>
    ((await edge.send('GET', '/api/ext/ssh-keys', undefined, headers)).json as unknown as { name: string }[]).map(
      ({ name }) => name,
    );

  test('are of one user, and survive a restart', async () => {
    const { status, json } = await add(`${sshKeyLine(1)} ann@laptop`);
    expect([status, json]).toEqual([
      201,
      {
        id: expect.stringMatching(/^[0-9a-f]{64}$/),
        name: 'ann@laptop',
        type: 'ssh-ed25519',
        fingerprint: expect.stringMatching(/^SHA256:/),
        key: sshKeyLine(1),
        addedAt: expect.any(String),
      },
    ]);
    await add(sshKeyLine(2), bob, { name: 'phone' });
    await edge.reopen({ SVC_ADMINS: 'ann,bob' });
    expect([await names(), await names(bob)]).toEqual([['ann@laptop'], ['phone']]);
    const path = `/api/ext/ssh-keys/${String(json['id'])}`;
    expect((await edge.send('DELETE', path, undefined, bob)).json.code).toBe('SSH_KEY_NOT_FOUND');
    expect((await edge.send('DELETE', path, undefined, ann)).json).toEqual({ status: 'removed' });
    expect([await names(), await names(bob)]).toEqual([[], ['phone']]);
  });

  test('refuse a private key, which is nowhere afterwards', async () => {
    const reply = await add('-----BEGIN OPENSSH PRIVATE KEY-----\nc2VjcmV0\n-----END OPENSSH PRIVATE KEY-----');
    expect([reply.status, reply.json.code]).toEqual([400, 'INVALID_INPUT']);
    expect(reply.body).not.toContain('c2VjcmV0');
    expect((await edge.send('GET', '/api/ext/journal', undefined, ann)).body).not.toContain('c2VjcmV0');
    expect(await names()).toEqual([]);
  });

  test('are at most 20 of a user, of which the same key counts once', async () => {
    for (let i = 0; i < 20; i++) expect((await add(sshKeyLine(i))).status).toBe(201);
    expect((await add(sshKeyLine(3), ann, { name: 'again' })).status).toBe(201);
    const reply = await add(sshKeyLine(21));
    expect([reply.status, reply.json.code]).toEqual([409, 'CONFLICT']);
    expect((await names()).filter((name) => name === 'again')).toHaveLength(1);
    expect((await add(sshKeyLine(21), bob)).status).toBe(201);
    expect((await add('x'.repeat(16_385))).status).toBe(400);
  });
});
