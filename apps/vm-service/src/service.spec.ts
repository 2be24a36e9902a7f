import 'reflect-metadata';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DomainError } from '@headgate/domain-contracts';
import { buildContainer, buildVm, MemoryBackend, withStatus } from '@headgate/testing';
import { pino } from 'pino';
import { WebSocket } from 'ws';
import { loadSettings } from './config/load-config.js';
import { parseCommandLine } from './config/command-line.js';
import { createService, type Service } from './create-app.js';

const silent = pino({ level: 'silent' });
const away = new DomainError('BACKEND_UNREACHABLE', 'lab does not answer.');

interface Reply {
  readonly status: number;
  readonly headers: Record<string, unknown>;
  readonly body: string;
  readonly json: Record<string, unknown> & { error: string; code: string };
}

/** The whole service over backends in memory, on a free port of the loopback. */
class Edge {
  readonly lab = new MemoryBackend('lab');
  readonly other = new MemoryBackend('other');
  readonly folder = mkdtempSync(join(tmpdir(), 'headgate-service-'));
  service!: Service;

  async open(env: Record<string, string> = {}, args: string[] = []): Promise<this> {
    const page = join(this.folder, 'page');
    const settings = loadSettings(
      parseCommandLine(['--data-dir', this.folder, '--listen', '127.0.0.1:0', ...args]),
      env,
    );
    const contexts = {
      backends: [this.lab, this.other],
      simulated: new Set(['lab']),
      hasTinyGuest: true,
      notes: [],
      close: async () => undefined,
    };
    this.service = await createService({ settings, contexts, log: silent, pageDir: page });
    await this.service.listen('127.0.0.1', 0);
    return this;
  }

  get base(): string {
    return `127.0.0.1:${this.service.port()}`;
  }

  async send(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Reply> {
    const raw = typeof body === 'string' ? body : body === undefined ? undefined : JSON.stringify(body);
    const answer = await this.service.app.inject({
      method: method as 'GET',
      url: path,
      payload: raw,
      headers: {
        host: 'localhost:8006',
        ...(raw === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
    });
    const isJson = String(answer.headers['content-type']).startsWith('application/json') && answer.body !== '';
    return {
      status: answer.statusCode,
      headers: answer.headers,
      body: answer.body,
      json: (isJson ? answer.json() : {}) as Reply['json'],
    };
  }

  socket(path: string, headers: Record<string, string> = {}): WebSocket {
    return new WebSocket(`ws://${this.base}${path}`, { headers });
  }

  async close(): Promise<void> {
    await this.service.close();
    rmSync(this.folder, { recursive: true });
  }
}

const vm = (name: string, context = 'lab', status: 'Stopped' | 'Running' = 'Stopped') =>
  withStatus(buildVm({ ref: { context, name } }), status);

describe('vm-service', () => {
  let edge: Edge;

  beforeEach(async () => {
    edge = new Edge();
    edge.lab.fleet.put(vm('web'));
    edge.lab.fleet.put(vm('db', 'lab', 'Running'));
    edge.lab.fleet.put(vm('twin'));
    edge.other.fleet.put(vm('twin', 'other'));
    edge.lab.fleet.put(buildContainer());
    await edge.open();
  });

  afterEach(() => edge.close());

  const statusOf = async (socket: WebSocket): Promise<number> => {
    const [, response] = (await once(socket, 'unexpected-response')) as [unknown, IncomingMessage];
    response.resume();
    return response.statusCode ?? 0;
  };

  describe('every error', () => {
    test.each([
      // paths
      ['GET', '/nope', undefined, 404, 'PATH_NOT_FOUND'],
      ['GET', '/api/vms/', undefined, 404, 'PATH_NOT_FOUND'],
      ['PUT', '/api/vms', {}, 404, 'PATH_NOT_FOUND'],
      ['PATCH', '/api/vms/default/web', {}, 404, 'PATH_NOT_FOUND'],
      ['GET', '/index.html', undefined, 404, 'PATH_NOT_FOUND'],
      ['GET', '/api/vms/%zz/web', undefined, 400, 'INVALID_INPUT'],
      // names, in every path that carries one
      ...[
        'GET /api/vms/Bad/web',
        'DELETE /api/vms/default/We%20b',
        'POST /api/vms/-a/web/start',
        'POST /api/vms/default/a.b/tags',
      ].map(
        (route) =>
          [
            ...(route.split(' ') as [string, string]),
            route.endsWith('tags') ? { tag: 'a', on: true } : undefined,
            400,
            'INVALID_NAME',
          ] as const,
      ),
      ['POST', '/api/vms/default/w_b/migrate', {}, 400, 'INVALID_NAME'],
      ['POST', `/api/cts/default/${'a'.repeat(64)}/start`, undefined, 400, 'INVALID_NAME'],
      ['DELETE', '/api/cts/default/..%2Fx', undefined, 400, 'INVALID_NAME'],
      // what is not there
      ['GET', '/api/vms/default/none', undefined, 404, 'INSTANCE_NOT_FOUND'],
      ['DELETE', '/api/vms/default/none', undefined, 404, 'INSTANCE_NOT_FOUND'],
      ['POST', '/api/vms/default/none/start', undefined, 404, 'INSTANCE_NOT_FOUND'],
      ['POST', '/api/vms/default/none/tags', { tag: 'a', on: true }, 404, 'INSTANCE_NOT_FOUND'],
      ['POST', '/api/vms/default/none/migrate', {}, 404, 'INSTANCE_NOT_FOUND'],
      ['POST', '/api/cts/default/web/start', undefined, 404, 'INSTANCE_NOT_FOUND'],
      ['DELETE', '/api/vms/default/box', undefined, 404, 'INSTANCE_NOT_FOUND'],
      ['GET', '/api/tasks/none', undefined, 404, 'TASK_NOT_FOUND'],
      // bodies
      ['POST', '/api/vms', '{', 400, 'INVALID_INPUT'],
      ['POST', '/api/vms', '[]', 400, 'INVALID_INPUT'],
      ['POST', '/api/vms', '"text"', 400, 'INVALID_INPUT'],
      ['POST', '/api/vms', '', 400, 'INVALID_NAME'],
      ['POST', '/api/vms', '{"__proto__":{"x":1},"name":"a"}', 400, 'INVALID_INPUT'],
      ['POST', '/api/vms', { name: 'new' }, 400, 'INVALID_SOURCE'],
      ['POST', '/api/vms', { name: 'new', image: 'tiny', pvc: 'volume-1' }, 400, 'INVALID_SOURCE'],
      ['POST', '/api/vms', { name: 'new', image: 'tiny', sshKey: 'ssh-ed25519 A' }, 400, 'INVALID_SOURCE'],
      ['POST', '/api/vms', { name: 'new', image: 'none' }, 400, 'UNKNOWN_CATALOG_ENTRY'],
      ['POST', '/api/vms', { name: 'New', image: 'tiny' }, 400, 'INVALID_NAME'],
      ['POST', '/api/vms', { name: 'new', image: 'tiny', mem: '4 Gi' }, 400, 'INVALID_QUANTITY'],
      ['POST', '/api/vms', { name: 'new', image: 'tiny', disk: '0' }, 400, 'INVALID_QUANTITY'],
      ['POST', '/api/vms', { name: 'new', image: 'tiny', cpu: '2' }, 400, 'INVALID_INPUT'],
      ['POST', '/api/vms', { name: 'new', image: 'tiny', cpu: 1.5 }, 400, 'INVALID_INPUT'],
      ['POST', '/api/vms', { name: 'new', image: 'tiny', cpu: null }, 400, 'INVALID_INPUT'],
      ['POST', '/api/vms', { name: 'new', image: 'tiny', colour: 'red' }, 400, 'INVALID_INPUT'],
      ['POST', '/api/vms', { name: 'new', image: 'tiny', context: 'nowhere' }, 400, 'CONTEXT_NOT_FOUND'],
      ['POST', '/api/vms', { name: 'new', pvc: 'no-such' }, 400, 'VOLUME_NOT_FOUND'],
      ['POST', '/api/vms', { name: 'new', bootc: 'a/b' }, 501, 'NOT_SUPPORTED'],
      ['POST', '/api/vms', { name: 'web', namespace: 'default', image: 'tiny' }, 409, 'ALREADY_EXISTS'],
      ['POST', '/api/vms', `{"name":"${'a'.repeat(1_048_600)}"}`, 413, 'BODY_TOO_LARGE'],
      ['POST', '/api/vms/default/web/tags', { tag: 'a b', on: true }, 400, 'INVALID_INPUT'],
      ['POST', '/api/vms/default/web/tags', { tag: 'a' }, 400, 'INVALID_INPUT'],
      ['POST', '/api/vms/default/db/migrate', { targetNode: 'A B' }, 400, 'INVALID_INPUT'],
      ['POST', '/api/cts', { name: 'new' }, 400, 'INVALID_INPUT'],
      ['POST', '/api/cts', { name: 'new', image: 'debian:12' }, 501, 'NOT_SUPPORTED'],
      // actions and states
      ['POST', '/api/vms/default/web/explode', undefined, 400, 'UNKNOWN_ACTION'],
      ['POST', '/api/cts/default/box/restart', undefined, 400, 'UNKNOWN_ACTION'],
      ['POST', '/api/vms/default/web/restart', undefined, 409, 'WRONG_STATE'],
      ['POST', '/api/vms/default/web/migrate', undefined, 409, 'WRONG_STATE'],
      ['POST', '/api/vms/default/db/migrate', {}, 501, 'NOT_SUPPORTED'],
      ['POST', '/api/cts/default/box/stop', undefined, 501, 'NOT_SUPPORTED'],
      ['POST', '/api/vms/default/twin/start', undefined, 409, 'AMBIGUOUS_INSTANCE'],
      // queries
      ['GET', '/api/vms?limit=0', undefined, 400, 'INVALID_INPUT'],
      ['GET', '/api/vms?limit=10001', undefined, 400, 'INVALID_INPUT'],
      ['GET', '/api/vms?sort=colour', undefined, 400, 'INVALID_INPUT'],
      ['GET', '/api/vms?cursor=x', undefined, 400, 'INVALID_INPUT'],
      ['GET', '/api/vms?context=a&context=b', undefined, 400, 'INVALID_INPUT'],
      ['POST', '/api/vms/default/web/start?force=yes', undefined, 400, 'INVALID_INPUT'],
      ['DELETE', '/api/vms/default/web?dryRun=1', undefined, 400, 'INVALID_INPUT'],
    ] as [string, string, unknown, number, string][])(
      'of %s %s %j answers %i %s in one form',
      async (method, path, body, status, code) => {
        const answer = await edge.send(method, path, body);
        expect([answer.status, answer.json.code]).toEqual([status, code]);
        expect(answer.json.error).toMatch(/^[A-Z"a-z].{10,}/);
        expect(answer.body).not.toMatch(/node_modules|\.js:\d|at [A-Z]/);
        expect(answer.headers['x-request-id']).toBeTruthy();
      },
    );

    test.each([
      'application/x-www-form-urlencoded',
      'text/plain',
      'multipart/form-data; boundary=x',
      'application/xml',
    ])('of a body sent as %s is 415', async (type) => {
      const answer = await edge.send('POST', '/api/vms', 'name=web', { 'content-type': type });
      expect([answer.status, answer.json.code]).toEqual([415, 'UNSUPPORTED_MEDIA_TYPE']);
    });

    test('changes nothing', async () => {
      expect((await edge.send('GET', '/api/vms')).body.match(/"ref"/g)).toHaveLength(4);
    });
  });

  describe('GET /api/vms', () => {
    test('answers every context in order, with the fields of the contract', async () => {
      const answer = await edge.send('GET', '/api/vms');
      const list = answer.json as unknown as Record<string, unknown>[];
      expect(list.map(({ ref }) => ref)).toEqual([
        'vm/lab/default/db',
        'vm/lab/default/twin',
        'vm/lab/default/web',
        'vm/other/default/twin',
      ]);
      expect(list[0]).toMatchObject({
        name: 'db',
        namespace: 'default',
        status: 'Running',
        ready: true,
        running: true,
        cpu: 2,
        mem: '4Gi',
        disk: '20Gi',
        ip: '192.0.2.5',
        node: 'memory-1',
        tags: [],
        context: 'lab',
        backend: 'kubevirt',
      });
      expect(list[2]).not.toHaveProperty('ip');
      expect(list[2]).not.toHaveProperty('node');
    });

    test('answers 304 while nothing changes', async () => {
      const { headers } = await edge.send('GET', '/api/vms');
      const etag = String(headers['etag']);
      expect(etag).toMatch(/^"/);
      expect((await edge.send('GET', '/api/vms', undefined, { 'if-none-match': etag })).status).toBe(304);
      await edge.send('POST', '/api/vms/default/web/start');
      expect((await edge.send('GET', '/api/vms', undefined, { 'if-none-match': etag })).status).toBe(200);
    });

    test('searches, sorts and pages', async () => {
      const names = async (query: string) =>
        ((await edge.send('GET', `/api/vms?${query}`)).json as unknown as { name: string }[]).map(({ name }) => name);
      expect(await names('q=running')).toEqual(['db']);
      expect(await names('sort=-name&context=lab')).toEqual(['web', 'twin', 'db']);
      const first = await edge.send('GET', '/api/vms?sort=name&limit=3');
      expect(await names(`sort=name&limit=3&cursor=${String(first.headers['svc-cursor'])}`)).toEqual(['web']);
    });

    test('shows what is known of a lost context as stale, and says so', async () => {
      edge.lab.fleet.lose(away);
      const answer = await edge.send('GET', '/api/vms');
      expect([answer.status, answer.headers['svc-partial']]).toEqual([200, 'true']);
      expect((answer.json as unknown as { stale?: boolean }[]).map(({ stale }) => stale)).toEqual([
        true,
        true,
        true,
        undefined,
      ]);
      edge.lab.fleet.restore();
      expect((await edge.send('GET', '/api/vms')).headers['svc-partial']).toBeUndefined();
    });

    test('answers 503 when no context can be reached, for reads and writes', async () => {
      edge.lab.fleet.lose(away);
      edge.other.fleet.lose(away);
      for (const [method, path, body] of [
        ['GET', '/api/vms'],
        ['GET', '/api/cts'],
        ['GET', '/api/nodes'],
        ['GET', '/api/capabilities'],
        ['GET', '/api/vms/default/db'],
        ['POST', '/api/vms/default/db/stop'],
        ['POST', '/api/vms', { name: 'new', image: 'tiny' }],
      ] as const) {
        const answer = await edge.send(method, path, body);
        expect([path, answer.status, answer.json.code]).toEqual([path, 503, 'BACKEND_UNREACHABLE']);
      }
      expect((await edge.send('GET', '/healthz')).body).toBe('ok\n');
    });

    test('streams one snapshot and then each change, and stays open while every context is lost', async () => {
      const abort = new AbortController();
      const answer = await fetch(`http://${edge.base}/api/vms`, {
        headers: { accept: 'text/event-stream' },
        signal: abort.signal,
      });
      expect(answer.headers.get('content-type')).toMatch('text/event-stream');
      const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader();
      let text = '';
      const until = async (pattern: RegExp): Promise<void> => {
        while (!pattern.test(text)) text += (await reader.read()).value ?? '';
      };
      await until(/event: snapshot\ndata: \[.*vm\/other\/default\/twin.*\n\n/);
      await edge.send('POST', '/api/vms/default/web/start');
      await until(/event: changed\ndata: \{"name":"web".*"status":"Running"/);
      await edge.send('DELETE', '/api/vms/default/web');
      await until(/event: removed\ndata: \{"ref":"vm\/lab\/default\/web"\}/);
      edge.lab.fleet.lose(away);
      edge.other.fleet.lose(away);
      await until(
        /event: status\ndata: \{"context":"other","backend":"kubevirt","up":false,"reason":"lab does not answer\."\}/,
      );
      edge.lab.fleet.restore();
      await until(/event: status\ndata: \{"context":"lab","backend":"kubevirt","up":true/);
      abort.abort();
    });
  });

  describe('a VM', () => {
    test('is made, tagged, started, looked at, stopped and removed', async () => {
      const made = await edge.send('POST', '/api/vms', { name: 'new', image: 'tiny', mem: '1G' });
      expect([made.status, made.json]).toEqual([201, { name: 'new', namespace: 'tailvm', ref: 'vm/lab/tailvm/new' }]);
      expect((await edge.send('POST', '/api/vms/tailvm/new/tags', { tag: 'prod', on: true })).json).toEqual({
        tag: 'prod',
        on: true,
      });
      expect((await edge.send('POST', '/api/vms/tailvm/new/start')).json).toEqual({ status: 'ok' });
      expect((await edge.send('POST', '/api/vms/tailvm/new/start')).json).toEqual({ status: 'ok' });
      const list = (await edge.send('GET', '/api/vms?q=new')).json as unknown as unknown[];
      expect(list).toMatchObject([{ name: 'new', tags: ['prod'], status: 'Running', mem: '1000000000' }]);
      expect((await edge.send('GET', '/api/vms/tailvm/new')).json).toMatchObject({
        kind: 'MemoryVm',
        userData: 'password: secret',
      });
      expect((await edge.send('POST', '/api/vms/tailvm/new/stop?force=true')).json).toEqual({ status: 'ok' });
      expect((await edge.send('DELETE', '/api/vms/tailvm/new')).json).toEqual({ status: 'deleted' });
      expect((await edge.send('GET', '/api/vms/tailvm/new')).status).toBe(404);
    });

    test('that is imported answers the task that fills its disk', async () => {
      const made = await edge.send('POST', '/api/vms', { name: 'new', import: 'https://example.org/a.qcow2' });
      expect(made.status).toBe(201);
      const task = await edge.send('GET', `/api/tasks/${String(made.json['task'])}`);
      expect(task.json).toMatchObject({
        status: 'done',
        kind: 'create',
        error: '',
        ref: 'vm/lab/tailvm/new',
        progress: 1,
      });
    });

    test.each([
      ['POST', '/api/vms?dryRun=true', { name: 'new', image: 'tiny' }],
      ['DELETE', '/api/vms/default/web?dryRun=true', undefined],
      ['POST', '/api/vms/default/web/start?dryRun=true', undefined],
      ['POST', '/api/vms/default/web/tags?dryRun=true', { tag: 'a', on: true }],
    ])('is left as it is by %s %s', async (method, path, body) => {
      const before = (await edge.send('GET', '/api/vms')).body;
      const answer = await edge.send(method, path, body);
      expect([answer.status, Object.keys(answer.json)]).toEqual([200, ['steps', 'warnings', 'refusals']]);
      expect((await edge.send('GET', '/api/vms')).body).toBe(before);
    });

    test('of a name that several contexts have is picked by its context', async () => {
      const several = await edge.send('GET', '/api/vms/default/twin');
      expect(several.json).toMatchObject({
        code: 'AMBIGUOUS_INSTANCE',
        details: { candidates: ['vm/lab/default/twin', 'vm/other/default/twin'] },
      });
      await edge.send('DELETE', '/api/vms/default/twin?context=other');
      expect((await edge.send('GET', '/api/vms/default/twin')).status).toBe(200);
    });
  });

  test('tells probes, identity, capabilities, nodes, images and instancetypes', async () => {
    expect((await edge.send('GET', '/readyz')).json).toEqual({ status: 'ready' });
    expect((await edge.send('GET', '/healthz', undefined, { host: '10.0.0.7:8006' })).body).toBe('ok\n');
    expect((await edge.send('GET', '/api/whoami')).json).toEqual({ login: '', name: '', admin: true, enforced: false });
    expect((await edge.send('GET', '/api/nodes')).json).toMatchObject([
      { name: 'memory-1', context: 'lab' },
      { context: 'other' },
    ]);
    expect((await edge.send('GET', '/api/instancetypes')).json).toEqual({
      instancetypes: ['u1.small'],
      preferences: ['debian'],
    });
    expect((await edge.send('GET', '/api/cts')).json).toMatchObject([
      { name: 'box', phase: 'Running', node: 'node-1' },
    ]);
    const { contexts, ...flags } = (await edge.send('GET', '/api/capabilities')).json as Record<string, unknown>;
    expect(flags).toEqual({ storageClass: 'memory', canExpand: false, canSnapshot: false, bootc: false });
    expect(contexts).toMatchObject([
      {
        context: 'lab',
        up: true,
        simulated: true,
        abilities: { power: true, migration: 'Memory has nowhere to migrate to.' },
      },
      { context: 'other', simulated: false },
    ]);
  });

  test('tells every instance at /metrics with the option, and at once when a context goes', async () => {
    await edge.service.close();
    await edge.open({}, ['--metrics']);
    const metrics = async (): Promise<string> => (await edge.send('GET', '/metrics')).body;
    const until = async (pattern: RegExp): Promise<string> => {
      for (let text = await metrics(); ; text = await metrics()) if (pattern.test(text)) return text;
    };
    const text = await until(/^svc_collection_success 1$/m);
    for (const line of [
      'svc_backend_up{context="lab",backend="kubevirt"} 1',
      'svc_instance_info{name="db",kind="vm",backend="kubevirt",context="lab",namespace="default",pool="",node="memory-1",template="false"} 1',
      'svc_instance_running{name="db",kind="vm",backend="kubevirt",context="lab",namespace="default",pool=""} 1',
      'svc_instance_running{name="web",kind="vm",backend="kubevirt",context="lab",namespace="default",pool=""} 0',
      'svc_instance_memory_bytes{name="web",kind="vm",backend="kubevirt",context="lab",namespace="default",pool=""} 4294967296',
      'svc_instance_cpu_cores{name="box",kind="ct",backend="kubevirt",context="lab",namespace="default",pool=""} 1',
      'svc_instances{backend="kubevirt",context="lab",state="Stopped"} 2',
    ]) {
      expect(text.split('\n')).toContain(line);
    }
    expect(text).toMatch(/^svc_collection_age_seconds [\d.]+$/m);
    expect(text).toMatch(/^process_resident_memory_bytes \d+/m);
    edge.lab.fleet.lose(away);
    await until(/^svc_backend_up\{context="lab",backend="kubevirt"\} 0$/m);
  });

  test('answers /metrics without the option, and a partial answer where one context is lost', async () => {
    expect((await edge.send('GET', '/metrics')).body).toMatch(/^svc_collection_success 0$/m);
    edge.lab.fleet.lose(away);
    const nodes = await edge.send('GET', '/api/nodes');
    expect([nodes.status, nodes.headers['svc-partial']]).toEqual([200, 'true']);
  });

  describe('a console', () => {
    const first = async (socket: WebSocket): Promise<string> =>
      String(((await once(socket, 'message')) as [Buffer])[0]);

    test('is bridged over a socket', async () => {
      const vnc = edge.socket('/api/vnc/default/db');
      expect(await first(vnc)).toBe('RFB 003.008\n');
      const tty = edge.socket('/api/tty/default/db?context=lab');
      expect(await first(tty)).toMatch(/^booted\n/);
      tty.send(Buffer.from('root\n'));
      let echoed = '';
      while (!echoed.endsWith('root\n')) echoed += await first(tty);
      vnc.close();
      tty.close();
    });

    test('keeps what is typed before the guest answers, and hands it on', async () => {
      const consoles = edge.lab.need('consoles');
      const openSerial = consoles.openSerial.bind(consoles);
      let answer = (): void => undefined;
      const answered = new Promise<void>((resolve) => (answer = resolve));
      consoles.openSerial = (ref) => answered.then(() => openSerial(ref));
      const tty = edge.socket('/api/tty/default/db?context=lab');
      let seen = '';
      tty.on('message', (data: Buffer) => (seen += String(data)));
      await once(tty, 'open');
      tty.send(Buffer.from('early\n'));
      await fetch(`http://${edge.base}/healthz`);
      answer();
      while (!seen.includes('early\n')) await once(tty, 'message');
      tty.close();
    });

    test.each([
      ['/api/vnc/default/none', {}, 404],
      ['/api/vnc/default/web', {}, 409],
      ['/api/tty/default/twin', {}, 409],
      ['/api/vnc/Bad/web', {}, 400],
      ['/api/spice/default/db', {}, 404],
      ['/api/vnc/default/db', { origin: 'http://evil.example.org' }, 403],
      ['/api/vnc/default/db', { host: 'evil.example.org' }, 403],
    ])('at %s with %j is refused before it is opened with %i', async (path, headers, status) => {
      expect(await statusOf(edge.socket(path, headers))).toBe(status);
    });

    test('outlives no service', async () => {
      const tty = edge.socket('/api/tty/default/db');
      await once(tty, 'open');
      const closed = once(tty, 'close');
      await edge.service.close();
      await closed;
      await edge.open();
    });
  });

  describe('who may', () => {
    const ann = { 'tailscale-user-login': 'Ann@example.org' };
    const bob = { 'tailscale-user-login': 'bob@example.org' };

    beforeEach(async () => {
      await edge.service.close();
      await edge.open({ SVC_ADMINS: 'ann@example.org' });
    });

    test('change something: administrators, while there is an allowlist', async () => {
      for (const [method, path, body] of [
        ['POST', '/api/vms', { name: 'new', image: 'tiny' }],
        ['POST', '/api/vms/default/web/start'],
        ['POST', '/api/vms/default/web/tags', { tag: 'a', on: true }],
        ['POST', '/api/vms/default/web/start?dryRun=true'],
        ['DELETE', '/api/vms/default/web'],
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
      });
    });

    test('read: everyone, without secrets', async () => {
      expect((await edge.send('GET', '/api/vms', undefined, bob)).status).toBe(200);
      expect((await edge.send('GET', '/api/vms/default/web', undefined, bob)).json).toMatchObject({ userData: '***' });
      expect((await edge.send('GET', '/api/vms/default/web', undefined, ann)).json).toMatchObject({
        userData: 'password: secret',
      });
    });

    test('type into a console: administrators; the others look', async () => {
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
    'refuses a change from the page %s, and no read',
    async (origin) => {
      const change = await edge.send('POST', '/api/vms/default/web/start', undefined, { origin });
      expect([change.status, change.json.code]).toEqual([403, 'FOREIGN_ORIGIN']);
      expect((await edge.send('GET', '/api/vms', undefined, { origin })).status).toBe(200);
    },
  );

  test('refuses every request under a name that is not its own', async () => {
    for (const path of ['/api/vms', '/api/whoami', '/metrics', '/']) {
      const answer = await edge.send('GET', path, undefined, { host: 'rebound.example.org' });
      expect([path, answer.status, answer.json.code]).toEqual([path, 403, 'UNKNOWN_HOST']);
    }
  });

  test('ends everything that it opened', async () => {
    await edge.service.close();
    expect([edge.lab.closed, edge.other.closed]).toEqual([true, true]);
    await edge.open();
  });
});

describe('the page', () => {
  test('is exactly four files, served with a policy that lets nothing else in', async () => {
    const edge = new Edge();
    const page = join(edge.folder, 'page');
    mkdirSync(page);
    for (const name of ['index.html', 'style.css', 'app.js', 'icons.js', 'secret.txt'])
      writeFileSync(join(page, name), `${name} `.repeat(200));
    await edge.open();
    for (const [path, type] of [
      ['/', 'text/html'],
      ['/style.css', 'text/css'],
      ['/app.js', 'text/javascript'],
      ['/icons.js', 'text/javascript'],
    ] as const) {
      const answer = await edge.send('GET', path);
      expect(String(answer.headers['content-type'])).toMatch(type);
      expect(String(answer.headers['content-security-policy'])).toMatch(/^default-src 'none'/);
      const etag = String(answer.headers['etag']);
      expect((await edge.send('GET', path, undefined, { 'if-none-match': etag })).status).toBe(304);
      expect((await edge.send('GET', path, undefined, { 'accept-encoding': 'gzip' })).headers['content-encoding']).toBe(
        'gzip',
      );
    }
    expect((await edge.send('GET', '/secret.txt')).status).toBe(404);
    await edge.close();
  });
});
