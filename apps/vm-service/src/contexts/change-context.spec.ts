import 'reflect-metadata';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { jest } from '@jest/globals';
import type { ContextsView, VmView } from '@headgate/api-contracts';
import { AddedContextStore, DomainError, Reservations, workOn } from '@headgate/domain-contracts';
import { buildContainer, MemoryBackend } from '@headgate/testing';
import { pino } from 'pino';
import { BACKEND_KINDS } from '../engines/backend-kinds.js';
import { AddedMemory } from '../testing/added-memory.js';
import { AddingEdge } from '../testing/adding-edge.js';

const CONTEXTS = '/api/ext/contexts';
const SECRET = 'hush-hush-4711';
const NEW_SECRET = 'hush-hush-4712';
const TICKET = 'hush-ticket';
const FAR = { kind: 'vm', context: 'far', namespace: 'default', name: 'far' } as const;
const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('PATCH /api/ext/contexts/{name}', () => {
  let edge: AddingEdge;
  let server: Server;
  let port: number;
  let memory: AddedMemory;
  let lines: string;

  beforeEach(async () => {
    memory = new AddedMemory();
    lines = '';
    server = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1');
    await once(server, 'listening');
    port = (server.address() as { port: number }).port;
    edge = new AddingEdge();
    edge.kinds = { ...BACKEND_KINDS, memory: memory.kind };
    edge.log = pino({ level: 'trace' }, { write: (line: string) => void (lines += line) });
    await edge.open();
  });
  afterEach(async () => {
    await edge.close();
    server.close();
  });

  const add = async (more: object = {}, name = 'far', extra: object = {}): Promise<void> => {
    const settings = { port, token: SECRET, ...more };
    const { status } = await edge.send('POST', CONTEXTS, { name, kind: 'memory', settings, ...extra });
    expect(status).toBe(201);
  };
  const change = (settings: unknown, extra: object = {}, name = 'far', headers = {}) =>
    edge.send('PATCH', `${CONTEXTS}/${name}`, { settings, ...extra }, headers);
  const remove = (name = 'far') => edge.send('DELETE', `${CONTEXTS}/${name}`);
  const contexts = async () => ((await edge.send('GET', CONTEXTS)).json as unknown as ContextsView).contexts;
  const vms = async (): Promise<VmView[]> =>
    ((await edge.send('GET', '/api/vms')).json as unknown as VmView[]).filter(({ context }) => context === 'far');
  const listed = async () => (await vms()).map(({ name }) => name);
  /** The settings with which the service opens the context after a restart. */
  const kept = async () => {
    await edge.reopen();
    return JSON.parse(JSON.stringify(memory.settings.at(-1))) as object;
  };
  const untilOpening = async (times: number): Promise<void> => {
    while (lines.split('memory opened').length <= times) await nextTurn();
  };
  const reservations = () => edge.service.app.get(Reservations, { strict: false });
  const holdFar = async (): Promise<void> =>
    (await reservations().acquire(workOn('migrate', FAR))).giveTo('migrate-far-1');

  test('changes a credential, lists the instances again, and keeps it over a restart', async () => {
    await add();
    const [before] = (await contexts()).slice(2);
    const { status, json } = await change({ token: NEW_SECRET });
    expect([status, json]).toMatchObject([
      200,
      { context: { name: 'far', origin: 'added', state: 'up', settings: { port: `${port}` } } },
    ]);
    expect(json['checks']).toContainEqual(expect.objectContaining({ name: 'address', status: 'ok' }));
    // The addition and the change are a test and a connection each.
    expect(memory.settings.map(({ token }) => token)).toEqual([SECRET, SECRET, NEW_SECRET, NEW_SECRET]);
    expect(memory.opened.map(({ closed }) => closed)).toEqual([true, true, true, false]);
    expect(await listed()).toEqual(['far']);
    expect((await edge.send('POST', '/api/vms/default/far/stop')).status).toBe(200);
    expect(memory.opened[3]?.engine.all()[0]).toMatchObject({ status: 'Stopped' });
    expect(memory.opened[1]?.engine.all()[0]).toMatchObject({ status: 'Running' });
    expect(await kept()).toMatchObject({ port, token: NEW_SECRET });
    expect((await contexts())[2]).toEqual(before);
  });

  test('keeps the settings that it does not name, adds others, and removes those that are null', async () => {
    await add();
    expect((await change({ host: 'localhost', token: SECRET })).status).toBe(200);
    expect((await change({ engine: 'far' })).status).toBe(200);
    expect(await kept()).toMatchObject({ port, token: SECRET, host: 'localhost', engine: 'far' });
    expect((await change({ engine: null })).status).toBe(200);
    expect(await kept()).not.toHaveProperty('engine');
  });

  test('leaves the context in its place, next to the others', async () => {
    await add();
    await add({ host: 'localhost' }, 'near');
    const order = async () =>
      ((await edge.send('GET', '/api/capabilities')).json['contexts'] as { context: string }[]).map(
        ({ context }) => context,
      );
    const answers = await Promise.all([change({ token: NEW_SECRET }), change({ token: NEW_SECRET }, {}, 'near')]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect(await order()).toEqual(['lab', 'other', 'far', 'near']);
    await change({ token: SECRET });
    expect(await order()).toEqual(['lab', 'other', 'far', 'near']);
    expect((await contexts()).map(({ name }) => name)).toEqual(['lab', 'other', 'far', 'near']);
  });

  test('shows no secret in an answer, a line of the log, a plan or the journal', async () => {
    await add();
    const answers = [
      await edge.send('PATCH', `${CONTEXTS}/far?dryRun=true`, { settings: { token: NEW_SECRET } }),
      await change({ token: NEW_SECRET, ticket: TICKET }),
      await change({ token: 'run' }),
      await change({ port: 1 }),
      await edge.send('GET', CONTEXTS),
      await edge.send('GET', '/api/ext/journal'),
    ];
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 400, 400, 200, 200]);
    const text = answers.map(({ body }) => body).join();
    for (const secret of [SECRET, NEW_SECRET, TICKET]) {
      expect(text).not.toContain(secret);
      expect(lines).not.toContain(secret);
    }
    expect(answers.at(-1)?.body).toContain('change context');
    expect(answers.at(-1)?.body).toContain('ticket, token');
  });

  test('sends a kept secret to no other place', async () => {
    await add();
    for (const elsewhere of [{ port: port + 1 }, { host: '127.0.0.2' }, { host: '127.0.0.2', token: undefined }]) {
      for (const extra of [{}, { despiteErrors: true }]) {
        const { status, json } = await change(elsewhere, extra);
        expect([status, json.error]).toEqual([400, 'token must be given again.']);
      }
    }
    expect(memory.opened).toHaveLength(2);
    expect(await kept()).not.toHaveProperty('host');
  });

  test('is planned without a connection', async () => {
    await add();
    const plan = async (settings: object) =>
      (await edge.send('PATCH', `${CONTEXTS}/far?dryRun=true`, { settings })).json as unknown;
    expect(await plan({ token: NEW_SECRET, engine: 'far', host: null })).toEqual({
      steps: [
        { name: 'test context', detail: `memory: port ${port}` },
        { name: 'change settings', detail: 'engine, token of far, if the test succeeds' },
        { name: 'close connections', detail: 'watches, consoles and streams of far' },
        { name: 'list instances', detail: 'far again' },
      ],
      warnings: [],
      refusals: [],
    });
    expect(await plan({ engine: 'moon' })).toMatchObject({ warnings: [expect.stringContaining('another place')] });
    await holdFar();
    expect(await plan({ engine: 'moon' })).toMatchObject({
      refusals: [{ code: 'BUSY', reason: expect.stringContaining('migrate-far-1') }],
    });
    expect(memory.opened).toHaveLength(2);
    expect(await listed()).toEqual(['far']);
  });

  test('changes nothing if the test fails, unless it is wanted all the same', async () => {
    await add();
    server.close();
    await once(server, 'close');
    const refused = await change({ token: NEW_SECRET });
    expect([refused.status, refused.json.code]).toEqual([409, 'CONFLICT']);
    expect(refused.json.error).toContain('or change it with despiteErrors');
    expect(refused.json['details']).toMatchObject({ checks: [{ name: 'address', status: 'error' }] });
    expect(memory.opened[1]?.closed).toBe(false);
    expect((await edge.send('POST', '/api/vms/default/far/stop')).status).toBe(200);
    expect((await change({ token: NEW_SECRET }, { despiteErrors: true })).status).toBe(200);
    expect(await kept()).toMatchObject({ token: NEW_SECRET });
  });

  test('tests the key that the other side knows, on a copy, and does not warn of the context itself', async () => {
    await add();
    await add({ host: 'localhost' }, 'twin');
    const folder = join(edge.folder, 'fetch/far/keys');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'key'), 'the key');
    memory.keys.length = 0;
    expect((await remove('twin')).status).toBe(200);
    const { json } = await change({ token: NEW_SECRET });
    expect(json['checks']).not.toContainEqual(expect.objectContaining({ name: 'other contexts' }));
    expect(memory.keys).toEqual(['the key', 'the key']);
    expect(readFileSync(join(folder, 'key'), 'utf8')).toBe('the key');
    expect(readdirSync(join(edge.folder, 'context-tests'))).toEqual([]);
    expect(statSync(join(edge.folder, 'context-tests')).mode & 0o077).toBe(0);
    await add({}, 'twin');
    expect((await change({ token: SECRET })).json['checks']).toContainEqual(
      expect.objectContaining({ name: 'other contexts', message: expect.stringContaining('twin') }),
    );
  });

  test('removes the key in the files of a test that a crash has interrupted', async () => {
    const folder = join(edge.folder, 'context-tests');
    mkdirSync(join(folder, 'test-a/keys'), { recursive: true });
    writeFileSync(join(folder, 'test-a/keys/key'), 'the key');
    await edge.reopen();
    expect(existsSync(folder)).toBe(false);
    await add();
    expect(await listed()).toEqual(['far']);
  });

  test.each([
    ['no settings', {}, {}],
    ['settings that are no object', [], {}],
    ['an unknown setting', { admin: 'yes' }, {}],
    ['a value of another type', { port: 'a' }, {}],
    ['settings without a required one', { token: null }, {}],
    ['settings that run a program', { token: 'run' }, {}],
    ['a file that the configuration does not allow', { file: '/etc/passwd' }, {}],
    ['a host to which no context may lead', { host: '169.254.169.254', token: SECRET }, {}],
    ['another kind', { token: SECRET }, { kind: 'libvirt' }],
    ['another name', { token: SECRET }, { name: 'near' }],
  ])('refuses %s', async (_what, settings, extra) => {
    await add();
    const { status, json } = await change(settings, extra);
    expect([status, json.error]).toEqual([400, expect.any(String)]);
    expect(memory.opened).toHaveLength(2);
    expect(await kept()).toEqual(expect.objectContaining({ port, token: SECRET }));
  });

  test('changes no context of the configuration, and none that there is not', async () => {
    const configured = await change({ token: NEW_SECRET }, {}, 'lab');
    expect([configured.status, configured.json.error]).toEqual([409, expect.stringContaining('change it there')]);
    const unknown = await change({ token: NEW_SECRET }, {}, 'far');
    expect([unknown.status, unknown.json.code]).toEqual([404, 'ADDED_CONTEXT_NOT_FOUND']);
    expect((await change({}, {}, '..%2Ffar')).status).toBe(400);
  });

  test('changes none in whose place one of the configuration is used', async () => {
    await add();
    const backends = [edge.lab, new MemoryBackend('far')];
    Object.assign(edge, { backends: () => backends });
    await edge.reopen();
    const { status, json } = await change({ token: NEW_SECRET });
    expect([status, json.error]).toEqual([409, expect.stringContaining('is used instead')]);
  });

  test('opens one that could not be opened', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'headgate-paths-'));
    const config = join(folder, 'headgate.yaml');
    writeFileSync(config, `addedContexts: { paths: [${folder}] }`);
    await edge.reopen({}, ['--config', config]);
    await add({ file: `${folder}/a` });
    await edge.reopen();
    expect((await contexts())[2]).toMatchObject({ state: 'unused' });
    const plan = await edge.send('PATCH', `${CONTEXTS}/far?dryRun=true`, { settings: { file: null } });
    expect(plan.json['steps']).toHaveLength(3);
    expect((await change({ file: null })).json['context']).toMatchObject({ state: 'up' });
    expect(await listed()).toEqual(['far']);
    expect((await remove()).status).toBe(200);
    rmSync(folder, { recursive: true });
  });

  test('lets one of two changes win, and neither a removal nor an addition in between', async () => {
    await add();
    const { promise, resolve } = Promise.withResolvers<void>();
    memory.gate = promise;
    const first = change({ token: NEW_SECRET });
    await untilOpening(3);
    for (const { status, json } of [await change({ token: 'third' }), await remove()])
      expect([status, json.code]).toEqual([409, 'BUSY']);
    const again = await edge.send('POST', CONTEXTS, { name: 'far', kind: 'memory', settings: { port, token: '' } });
    expect(again.json.code).toBe('ALREADY_EXISTS');
    // Everyone else goes on with the former settings meanwhile.
    expect((await edge.send('POST', '/api/vms/default/far/stop')).status).toBe(200);
    resolve();
    expect((await first).status).toBe(200);
    const answers = await Promise.all([change({ token: 'a' }), change({ token: 'b' }), change({ token: 'c' })]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409]);
    const winner = ['a', 'b', 'c'][answers.findIndex(({ status }) => status === 200)];
    expect(await kept()).toMatchObject({ token: winner });
    expect(memory.opened.filter(({ closed }) => !closed)).toHaveLength(1);
  });

  test('cuts no operation that runs, or that begins during the test', async () => {
    await add();
    await holdFar();
    expect((await change({ token: NEW_SECRET })).json.code).toBe('BUSY');
    reservations().endTask('migrate-far-1');
    const { promise, resolve } = Promise.withResolvers<void>();
    memory.gate = promise;
    const changing = change({ token: NEW_SECRET });
    await untilOpening(3);
    await holdFar();
    resolve();
    const refused = await changing;
    expect([refused.status, refused.json.code]).toEqual([409, 'BUSY']);
    expect(memory.opened.filter(({ closed }) => !closed)).toEqual([memory.opened[1]]);
    reservations().endTask('migrate-far-1');
    expect((await edge.send('POST', '/api/vms/default/far/stop')).status).toBe(200);
    expect(await kept()).toMatchObject({ token: SECRET });
  });

  test('changes nothing if the settings can not be stored', async () => {
    await add();
    const store = edge.service.app.get(AddedContextStore, { strict: false });
    const full = new DomainError('REGISTRY_FULL', 'The disk is full.');
    jest.spyOn(store, 'update').mockRejectedValueOnce(full);
    expect((await change({ token: NEW_SECRET })).json.code).toBe('REGISTRY_FULL');
    expect(memory.opened.filter(({ closed }) => !closed)).toEqual([memory.opened[1]]);
    expect((await edge.send('POST', '/api/vms/default/far/stop')).status).toBe(200);
    expect((await contexts()).map(({ name }) => name)).toEqual(['lab', 'other', 'far']);
    expect((await change({ token: NEW_SECRET })).status).toBe(200);
    expect(await kept()).toMatchObject({ token: NEW_SECRET });
  });

  test('ends the consoles of the context, and no others', async () => {
    await add();
    const origin = `http://${edge.base}`;
    const [socket, other] = [
      edge.socket('/api/tty/default/far', { origin }),
      edge.socket('/api/tty/default/db', { origin }),
    ];
    await Promise.all([once(socket, 'open'), once(other, 'open')]);
    const closed = once(socket, 'close') as Promise<[number, Buffer]>;
    expect((await change({ token: NEW_SECRET })).status).toBe(200);
    const [code, reason] = await closed;
    expect([code, String(reason)]).toEqual([1001, 'the settings of the context were changed']);
    expect(other.readyState).toBe(other.OPEN);
    const again = edge.socket('/api/tty/default/far', { origin });
    await once(again, 'open');
    for (const one of [again, other]) one.close();
  });

  test.each(['changed', 'removed'])('ends a followed log of a context that is %s, and no others', async (what) => {
    memory.prepare = ({ engine }) =>
      engine.put(buildContainer({ ref: { context: 'far', name: 'crate' }, phase: 'Running' }));
    await add();
    const follow = (name: string) => fetch(`http://${edge.base}/api/ext/cts/default/${name}/logs?follow=true`);
    const [ended, other] = [await follow('crate'), await follow('box')];
    expect([ended.status, other.status]).toEqual([200, 200]);
    const hasEnded = expect(ended.text()).rejects.toThrow('terminated');
    expect((await (what === 'changed' ? change({ token: NEW_SECRET }) : remove())).status).toBe(200);
    await hasEnded;
    expect(edge.lab.logs.followerCount).toBe(1);
    await other.body?.cancel();
  });

  test('shows the last known instances as stale while the new settings reach nothing, and changes none of them', async () => {
    await add();
    memory.prepare = ({ engine }) => engine.disconnect(new DomainError('BACKEND_UNREACHABLE', 'far does not answer.'));
    expect((await change({ token: NEW_SECRET }, { despiteErrors: true })).json['context']).toMatchObject({
      state: 'lost',
      reason: 'far does not answer.',
    });
    expect(await vms()).toMatchObject([{ name: 'far', stale: true }]);
    const refused = await edge.send('POST', '/api/vms/default/far/stop');
    expect([refused.status, refused.json.code]).toEqual([503, 'BACKEND_UNREACHABLE']);
    memory.prepare = () => undefined;
    expect((await change({ token: SECRET })).json['context']).toMatchObject({ state: 'up' });
    expect(await vms()).toEqual([expect.not.objectContaining({ stale: true })]);
  });

  test('lists the instances of another engine in place of the former ones, which keep their folders', async () => {
    await add();
    await edge.send('POST', '/api/folders', { path: 'prod' });
    const ref = 'vm/far/default/far';
    expect((await edge.send('POST', '/api/folders/members', { path: 'prod', ref })).status).toBe(200);
    const former = memory.opened[1]!;
    expect((await change({ engine: 'moon' })).status).toBe(200);
    expect(await listed()).toEqual(['moon']);
    expect(former.engine.all()).toMatchObject([{ ref: { name: 'far' }, status: 'Running' }]);
    expect((await edge.send('POST', '/api/vms/default/far/stop')).status).toBe(404);
    expect((await change({ engine: null })).status).toBe(200);
    expect(await vms()).toMatchObject([{ ref, folder: 'prod' }]);
  });

  test('forgets a secret that is used once when the context is listed, and not before', async () => {
    await add({ ticket: TICKET });
    expect(memory.settings[1]).toHaveProperty('ticket', TICKET);
    expect(await kept()).not.toHaveProperty('ticket');
    memory.prepare = ({ engine }) => engine.disconnect();
    await change({ ticket: TICKET }, { despiteErrors: true });
    expect(await kept()).toHaveProperty('ticket', TICKET);
    memory.opened.at(-1)!.engine.reconnect();
    while ((await contexts())[2]?.state !== 'up') await nextTurn();
    memory.prepare = () => undefined;
    expect(await kept()).not.toHaveProperty('ticket');
    await change({ ticket: TICKET });
    expect(memory.settings.at(-1)).toHaveProperty('ticket', TICKET);
    expect(await kept()).not.toHaveProperty('ticket');
  });

  test('is for the administrators that may add contexts', async () => {
    await add();
    const proxied = { 'x-forwarded-for': '192.0.2.7' };
    expect((await change({ token: NEW_SECRET }, {}, 'far', proxied)).status).toBe(403);
    await edge.reopen({ SVC_ADMINS: 'ann' });
    const bob = { 'tailscale-user-login': 'bob' };
    expect((await change({ token: NEW_SECRET }, {}, 'far', bob)).status).toBe(403);
    const ann = { 'tailscale-user-login': 'ann' };
    expect((await change({ token: NEW_SECRET }, {}, 'far', ann)).status).toBe(200);
    const folder = mkdtempSync(join(tmpdir(), 'headgate-allow-'));
    const config = join(folder, 'headgate.yaml');
    writeFileSync(config, 'addedContexts: { allow: false }');
    await edge.reopen({}, ['--config', config]);
    expect((await change({ token: SECRET })).status).toBe(501);
    rmSync(folder, { recursive: true });
    expect(await kept()).toMatchObject({ token: NEW_SECRET });
  });
});
