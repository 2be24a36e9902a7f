import 'reflect-metadata';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ContextsView, ContextTestView } from '@headgate/api-contracts';
import { DomainError, workOn, Reservations } from '@headgate/domain-contracts';
import { MemoryBackend } from '@headgate/testing';
import { pino } from 'pino';
import { BACKEND_KINDS } from '../engines/backend-kinds.js';
import { AddedMemory } from '../testing/added-memory.js';
import { AddingEdge } from '../testing/adding-edge.js';

const CONTEXTS = '/api/ext/contexts';
const ann = { 'tailscale-user-login': 'ann' };
const bob = { 'tailscale-user-login': 'bob' };
const SECRET = 'hush-hush-4711';

describe('/api/ext/contexts', () => {
  let edge: AddingEdge;
  let server: Server;
  let port: number;
  let memory: AddedMemory;
  let opened: readonly MemoryBackend[];
  let lines: string;

  beforeEach(async () => {
    memory = new AddedMemory();
    opened = memory.opened;
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

  const body = (name: string, more: object = {}) => ({
    name,
    kind: 'memory',
    settings: { port, token: SECRET, ...more },
  });
  const add = (name: string, more: object = {}, extra: object = {}, headers = {}) =>
    edge.send('POST', CONTEXTS, { ...body(name, more), ...extra }, headers);
  const test_ = async (name: string, more: object = {}) => edge.send('POST', `${CONTEXTS}/test`, body(name, more));
  const remove = (name: string, query = '') => edge.send('DELETE', `${CONTEXTS}/${name}${query}`);
  const read = async (headers = {}) =>
    (await edge.send('GET', CONTEXTS, undefined, headers)).json as unknown as ContextsView;
  const listed = async () =>
    ((await edge.send('GET', '/api/vms')).json as unknown as { context: string; name: string }[])
      .filter(({ name }) => name === 'far')
      .map(({ context }) => context);

  test('lists the contexts of the configuration', async () => {
    expect(await read()).toEqual({
      contexts: [
        { name: 'lab', kind: 'memory', origin: 'configuration', state: 'up', settings: {} },
        { name: 'other', kind: 'memory', origin: 'configuration', state: 'up', settings: {} },
      ],
      kinds: ['kubevirt', 'libvirt', 'incus', 'memory'],
    });
  });

  test('tests a context and keeps nothing of it', async () => {
    const { status, json } = await test_('far');
    expect(status).toBe(200);
    expect(json as unknown as ContextTestView).toEqual({
      ok: true,
      checks: [
        { name: 'address', status: 'ok', message: `127.0.0.1:${port} accepts connections.`, remedy: '' },
        expect.objectContaining({ name: 'memory', status: 'ok' }),
      ],
    });
    expect((await read()).contexts).toHaveLength(2);
    expect(opened).toHaveLength(1);
    expect(await listed()).toEqual([]);
  });

  test('adds a context, whose instances are listed, changed, and there after a restart', async () => {
    const { status, json } = await add('far');
    expect([status, json]).toMatchObject([
      201,
      { context: { name: 'far', kind: 'memory', origin: 'added', state: 'up', settings: { port: `${port}` } } },
    ]);
    expect(await listed()).toEqual(['far']);
    expect((await edge.send('POST', '/api/vms/default/far/stop')).status).toBe(200);
    expect((await edge.send('GET', '/api/capabilities')).json['contexts']).toMatchObject([
      { context: 'lab' },
      { context: 'other' },
      { context: 'far', up: true },
    ]);
    await edge.reopen();
    expect(await listed()).toEqual(['far']);
    expect((await read()).contexts[2]).toMatchObject({
      name: 'far',
      origin: 'added',
      state: 'up',
      creator: '',
      addedAt: expect.any(String),
    });
  });

  test('shows its secrets in no answer, log line or entry of the journal, and keeps them in a private file', async () => {
    const answers = [await test_('far'), await add('far'), await add('far'), await add('bad', { token: 'run' })];
    for (const path of [CONTEXTS, '/api/ext/journal', '/api/capabilities', '/api/doctor'])
      answers.push(await edge.send('GET', path));
    answers.push(await remove('far', '?dryRun=true'));
    const entries = answers[5]?.body ?? '';
    for (const action of ['test context', 'add context']) expect(entries).toContain(action);
    expect(answers.map(({ body: text }) => text).join()).not.toContain(SECRET);
    expect(lines).toContain('memory opened');
    expect(lines).not.toContain(SECRET);
    for (const file of readdirSync(edge.folder).filter((name) => name.startsWith('registry')))
      expect(statSync(join(edge.folder, file)).mode & 0o077).toBe(0);
  });

  test('refuses a context whose test fails, unless it is wanted all the same', async () => {
    server.close();
    await once(server, 'close');
    const refused = await add('far');
    expect([refused.status, refused.json.code]).toEqual([409, 'CONFLICT']);
    expect(refused.json['details']).toMatchObject({
      checks: [
        { name: 'address', status: 'error', message: `127.0.0.1:${port} does not accept a connection (ECONNREFUSED).` },
      ],
    });
    expect(opened).toEqual([]);
    expect((await add('far', {}, { despiteErrors: true })).status).toBe(201);
    expect(await listed()).toEqual(['far']);
  });

  test('gives a name to one of two requests at the same moment', async () => {
    const answers = await Promise.all([add('far'), add('far'), add('near')]);
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 201, 409]);
    expect((await listed()).sort()).toEqual(['far', 'near']);
    expect((await add('lab')).json.code).toBe('ALREADY_EXISTS');
  });

  test('neither removes a context that is being added, nor adds one twice', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    memory.gate = promise;
    const adding = add('far', {}, { despiteErrors: true });
    while (!lines.includes('memory opened')) await new Promise((next) => setImmediate(next));
    const again = await add('far');
    expect([again.status, again.json.code]).toEqual([409, 'BUSY']);
    expect((await remove('far')).json.code).toBe('ADDED_CONTEXT_NOT_FOUND');
    resolve();
    expect((await adding).status).toBe(201);
    const removals = await Promise.all([remove('far'), remove('far')]);
    expect(removals.map(({ status }) => status).sort()).toEqual([200, 409]);
    expect(await listed()).toEqual([]);
  });

  test('tests three contexts at a time', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    memory.gate = promise;
    const tests = [1, 2, 3].map((number) => test_(`far-${number}`));
    while (lines.split('memory opened').length < 4) await new Promise((next) => setImmediate(next));
    const refused = await test_('far-4');
    expect([refused.status, refused.json.code]).toEqual([409, 'BUSY']);
    resolve();
    for (const { status } of await Promise.all(tests)) expect(status).toBe(200);
    expect((await test_('far-4')).status).toBe(200);
  });

  test.each([
    ['a name with a path', { name: '..' }],
    ['a name with capitals', { name: 'Far' }],
    ['a long name', { name: 'x'.repeat(64) }],
    ['a kind that only the configuration can have', { kind: 'sandbox' }],
    ['an unknown kind', { kind: 'constructor' }],
    ['settings that are no object', { settings: [] }],
    ['settings of another kind', { settings: { uri: 'qemu:///system' } }],
    ['settings that run a program', { settings: { port: 1, token: 'run' } }],
    ['an unknown field', { admin: true }],
  ])('refuses %s', async (_what, more) => {
    for (const path of [CONTEXTS, `${CONTEXTS}/test`]) {
      const { status, json } = await edge.send('POST', path, { ...body('far'), ...more });
      expect([status, json.error]).toEqual([400, expect.any(String)]);
    }
    expect(opened).toEqual([]);
  });

  test.each(['169.254.169.254', '0.0.0.0', '224.0.0.1', 'fe80::1', '::ffff:169.254.169.254', 'fd00:ec2::254'])(
    'connects to no engine at %s',
    async (host) => {
      for (const more of [{}, { despiteErrors: true }]) {
        const { status, json } = await add('far', { host }, more);
        expect([status, json.error]).toEqual([400, expect.stringContaining('no context may lead')]);
      }
      expect(opened).toEqual([]);
    },
  );

  test('names only files that the configuration allows, also through links', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'headgate-paths-'));
    const config = join(folder, 'headgate.yaml');
    writeFileSync(config, `addedContexts: { paths: [${folder}/clusters] }`);
    await edge.reopen({}, ['--config', config]);
    for (const file of ['/etc/passwd', `${folder}/clusters/../headgate.yaml`, `${folder}/clusters-2/a`]) {
      const { status, json } = await add('far', { file });
      expect([status, json.error]).toEqual([400, expect.stringContaining('addedContexts.paths')]);
    }
    expect((await add('far', { file: `${folder}/clusters/a` })).status).toBe(201);
    await edge.reopen();
    expect((await read()).contexts[2]).toMatchObject({ state: 'unused', reason: expect.stringContaining('paths') });
    expect(await listed()).toEqual([]);
    expect((await remove('far')).status).toBe(200);
    rmSync(folder, { recursive: true });
  });

  test('removes a context after its plan, and leaves its instances alone', async () => {
    await add('far');
    const engine = opened.at(-1)!.engine;
    const plan = await remove('far', '?dryRun=true');
    expect(plan.json).toEqual({
      steps: [
        { name: 'remove from the lists', detail: '1 VMs and 0 containers of far' },
        expect.any(Object),
        { name: 'forget settings', detail: 'the address and the credentials of far' },
      ],
      warnings: [expect.stringContaining('go on'), expect.any(String)],
      refusals: [],
    });
    expect(await listed()).toEqual(['far']);
    expect((await remove('far')).json).toEqual({ status: 'removed' });
    expect(await listed()).toEqual([]);
    expect(engine.all().map(({ ref }) => ref.name)).toEqual(['far']);
    expect((await edge.send('POST', '/api/vms/default/far/stop')).status).toBe(404);
    expect((await remove('far')).json.code).toBe('ADDED_CONTEXT_NOT_FOUND');
    await edge.reopen();
    expect((await read()).contexts).toHaveLength(2);
    expect((await add('far')).status).toBe(201);
    expect(await listed()).toEqual(['far']);
  });

  test('removes no context of the configuration', async () => {
    const { status, json } = await remove('lab');
    expect([status, json.error]).toEqual([409, expect.stringContaining('remove it there')]);
    expect((await read()).contexts).toHaveLength(2);
  });

  test('cuts no operation that runs', async () => {
    await add('far');
    const ref = { kind: 'vm', context: 'far', namespace: 'default', name: 'far' } as const;
    const held = await edge.service.app.get(Reservations, { strict: false }).acquire(workOn('migrate', ref));
    held.giveTo('migrate-far-1');
    expect((await remove('far', '?dryRun=true')).json['refusals']).toMatchObject([
      { code: 'BUSY', reason: expect.stringContaining('migrate-far-1') },
    ]);
    const refused = await remove('far');
    expect([refused.status, refused.json.code]).toEqual([409, 'BUSY']);
    expect(await listed()).toEqual(['far']);
    edge.service.app.get(Reservations, { strict: false }).endTask('migrate-far-1');
    expect((await remove('far')).status).toBe(200);
  });

  test('ends the consoles of a removed context', async () => {
    await add('far');
    const socket = edge.socket('/api/tty/default/far', { origin: `http://${edge.base}` });
    await once(socket, 'open');
    const closed = once(socket, 'close') as Promise<[number, Buffer]>;
    expect((await remove('far')).status).toBe(200);
    const [code, reason] = await closed;
    expect([code, String(reason)]).toEqual([1001, 'the context was removed from the service']);
  });

  test('keeps the folder of an instance for a context that is added again', async () => {
    await add('far');
    await edge.send('POST', '/api/folders', { path: 'prod' });
    const ref = 'vm/far/default/far';
    expect((await edge.send('POST', '/api/folders/members', { path: 'prod', ref })).status).toBe(200);
    await remove('far');
    await add('far');
    expect((await edge.send('GET', '/api/vms')).json as unknown).toEqual(
      expect.arrayContaining([expect.objectContaining({ ref, folder: 'prod' })]),
    );
  });

  test('a context of the configuration comes before an added one of its name', async () => {
    await add('far');
    const configured = new MemoryBackend('far');
    const backends = [edge.lab, configured];
    Object.assign(edge, { backends: () => backends });
    await edge.reopen();
    expect((await read()).contexts.filter(({ name }) => name === 'far')).toMatchObject([
      { origin: 'configuration', state: 'up' },
      { origin: 'added', state: 'unused', reason: expect.stringContaining('used instead') },
    ]);
    expect((await remove('far')).status).toBe(200);
    expect((await read()).contexts.filter(({ name }) => name === 'far')).toMatchObject([{ origin: 'configuration' }]);
    expect((await remove('far')).status).toBe(409);
  });

  test('are at most 32', async () => {
    for (let count = 0; count < 32; count++) expect((await add(`far-${count}`)).status).toBe(201);
    const { status, json } = await add('one-more');
    expect([status, json.error]).toEqual([409, expect.stringContaining('At most 32')]);
  });

  test('can be added by administrators only', async () => {
    await edge.reopen({ SVC_ADMINS: 'ann' });
    for (const [method, path] of [
      ['GET', CONTEXTS],
      ['POST', CONTEXTS],
      ['POST', `${CONTEXTS}/test`],
      ['DELETE', `${CONTEXTS}/far`],
    ] as const)
      expect((await edge.send(method, path, method === 'POST' ? body('far') : undefined, bob)).status).toBe(403);
    expect((await add('far', {}, {}, ann)).status).toBe(201);
    expect((await read(ann)).contexts[2]?.creator).toBe('ann');
    expect(opened).toHaveLength(2);
  });

  test('are added from this machine only while no administrators are named', async () => {
    const through = { 'x-forwarded-for': '192.0.2.7' };
    for (const headers of [ann, through]) {
      const { status, json } = await add('far', {}, {}, headers);
      expect([status, json.code]).toEqual([403, 'NOT_PERMITTED']);
      expect((await edge.send('POST', `${CONTEXTS}/test`, body('far'), headers)).status).toBe(403);
      expect((await read(headers)).refusal).toContain('set admins');
    }
    expect(opened).toEqual([]);
    await edge.reopen({}, ['--open']);
    expect((await add('far')).status).toBe(403);
  });

  test.each([
    ['allow: true', 201, undefined],
    ['allow: false', 501, 'addedContexts.allow'],
  ])('obey addedContexts: { %s }', async (setting, status, refusal) => {
    const folder = mkdtempSync(join(tmpdir(), 'headgate-allow-'));
    const config = join(folder, 'headgate.yaml');
    await add('near');
    writeFileSync(config, `addedContexts: { ${setting} }`);
    await edge.reopen({}, ['--config', config]);
    const { json } = await add('far', {}, {}, { 'x-forwarded-for': '192.0.2.7', ...ann });
    expect((await add('far-2', {}, {}, ann)).status).toBe(status);
    if (refusal !== undefined) {
      expect(json.error).toContain(refusal);
      expect((await read()).contexts[2]).toMatchObject({ name: 'near', state: 'unused' });
      expect(await listed()).toEqual([]);
    }
    rmSync(folder, { recursive: true });
  });

  test('is listed as lost while its engine does not answer', async () => {
    await add('far');
    opened.at(-1)!.engine.disconnect(new DomainError('BACKEND_UNREACHABLE', 'far does not answer.'));
    expect((await read()).contexts[2]).toMatchObject({ state: 'lost', reason: 'far does not answer.' });
    expect((await remove('far')).status).toBe(200);
    expect((await edge.send('GET', '/api/vms')).headers['svc-partial']).toBeUndefined();
  });
});
