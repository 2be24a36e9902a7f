import 'reflect-metadata';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import type { CapabilitiesView, PluginView, TaskView } from '@headgate/api-contracts';
import { archiveOf, FakePodman, indexOf, servingWith, TestPublisher } from '@headgate/plugins/testing';
import { Edge } from '../testing/edge.js';

const IMAGE = '127.0.0.1:5000/fedora/fedora-bootc:43';
const KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIBb0lVJ8dgPdFCFkLWpDMYpwNcW1OmnsJBR0xgKkKrrP ann';

describe('plugins', () => {
  let edge: Edge;

  beforeEach(async () => {
    edge = await new Edge().open();
  });
  afterEach(() => edge.close());

  const list = async (): Promise<PluginView[]> =>
    (await edge.send('GET', '/api/plugins')).json as unknown as PluginView[];

  test('are listed, installed, kept over a restart, and removed', async () => {
    expect(await list()).toEqual([
      {
        name: 'bootc',
        version: '1.1.0',
        installed: false,
        inStore: true,
        origin: 'bundled',
        description: 'Creates VMs from bootable container images (bootc)',
      },
    ]);
    const installed = await edge.send('POST', '/api/plugins/bootc/install');
    expect([installed.status, installed.json]).toEqual([200, { installed: 'bootc' }]);
    expect((await edge.send('POST', '/api/plugins/bootc/install')).json).toEqual({ installed: 'bootc' });
    await edge.reopen();
    expect(await list()).toMatchObject([{ name: 'bootc', installed: true, inStore: true }]);
    const removed = await edge.send('DELETE', '/api/plugins/bootc');
    expect([removed.status, removed.json]).toEqual([200, { status: 'removed' }]);
    expect(await list()).toMatchObject([{ name: 'bootc', installed: false }]);
  });

  test.each([
    [404, 'POST', '/api/plugins/none/install'],
    [404, 'DELETE', '/api/plugins/none'],
    [404, 'DELETE', '/api/plugins/bootc'],
    [404, 'GET', '/api/plugins/bootc'],
    [400, 'POST', '/api/plugins/..%2f..%2fetc/install'],
    [400, 'DELETE', '/api/plugins/No%20Name'],
  ])('answer %i to %s %s', async (status, method, path) => {
    const refused = await edge.send(method, path);
    expect([refused.status, typeof refused.json.error]).toEqual([status, 'string']);
  });

  test('refuse a body with unknown fields', async () => {
    expect((await edge.send('POST', '/api/plugins/bootc/install', { version: '0.1.0' })).status).toBe(400);
  });

  test('are only planned with dryRun', async () => {
    const plan = await edge.send('POST', '/api/plugins/bootc/install?dryRun=true');
    expect(plan.json).toMatchObject({
      steps: [{ name: 'fetch' }, { name: 'verify' }, { name: 'check' }, { name: 'install' }],
    });
    expect(await list()).toMatchObject([{ installed: false }]);
  });

  test('are changed by administrators only', async () => {
    await edge.reopen({ SVC_ADMINS: 'ann' });
    expect((await edge.send('POST', '/api/plugins/bootc/install')).status).toBe(403);
    expect((await edge.send('DELETE', '/api/plugins/bootc')).status).toBe(403);
    expect(await list()).toMatchObject([{ installed: false }]);
  });

  describe('of a configured index', () => {
    const acme = new TestPublisher();
    let server: Server;
    let files: Map<string, Buffer>;

    beforeEach(async () => {
      const archive = await archiveOf();
      files = new Map([
        ['/sample.tar', archive],
        ['/index.json', Buffer.from(indexOf(acme.entry(archive)))],
      ]);
      server = createServer(({ url = '' }, response) => {
        const content = files.get(url);
        response.writeHead(content ? 200 : 404).end(content);
      });
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
    });
    afterEach(async () => {
      server.close();
      await once(server, 'close');
    });

    const reopen = async (env: Record<string, string>, key = acme.publicText): Promise<void> => {
      const file = join(edge.folder, 'headgate.yaml');
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/index.json`;
      writeFileSync(file, JSON.stringify({ plugins: { indexes: [url], publishers: [{ name: 'acme', key }] } }));
      await edge.reopen(env, ['--config', file]);
    };

    test('are installed from there when a trusted publisher has signed them', async () => {
      await reopen({ SVC_IMPORT_ALLOW: '127.0.0.1' });
      expect(await list()).toMatchObject([{ name: 'bootc' }, { name: 'sample', publisher: 'acme', installed: false }]);
      expect((await edge.send('POST', '/api/plugins/sample/install')).json).toEqual({ installed: 'sample' });
      expect(await list()).toMatchObject([{ name: 'bootc' }, { name: 'sample', installed: true }]);
    });

    test('add their checks to the doctor', async () => {
      const plugin = { name: 'sample', ability: 'doctor-checks' } as const;
      const check = { name: 'load', status: 'warning', message: 'It is high.', remedy: 'Stop some VMs.' };
      const code = servingWith(`{ checks: () => [${JSON.stringify(check)}] }`, plugin);
      const archive = await archiveOf({ ...plugin, code });
      files.set('/sample.tar', archive);
      files.set('/index.json', Buffer.from(indexOf(acme.entry(archive))));
      await reopen({ SVC_IMPORT_ALLOW: '127.0.0.1' });
      await edge.send('POST', '/api/plugins/sample/install');
      const checks = (await edge.send('GET', '/api/doctor')).json as unknown as object[];
      expect(checks.at(-1)).toEqual({ ...check, context: 'plugin/sample', fixable: false });
    });

    test('are refused when another key has signed them, or the archive was replaced', async () => {
      await reopen({ SVC_IMPORT_ALLOW: '127.0.0.1' }, new TestPublisher().publicText);
      const foreign = await edge.send('POST', '/api/plugins/sample/install');
      expect([foreign.status, foreign.json.code]).toEqual([400, 'INVALID_PLUGIN']);
      await reopen({ SVC_IMPORT_ALLOW: '127.0.0.1' });
      const archive = files.get('/sample.tar') ?? Buffer.alloc(0);
      files.set('/sample.tar', Buffer.from(archive.map((byte, index) => (index === 1000 ? byte ^ 1 : byte))));
      const replaced = await edge.send('POST', '/api/plugins/sample/install');
      expect([replaced.status, replaced.json.error]).toEqual([400, expect.stringMatching(/has the digest/)]);
      expect(await list()).toMatchObject([{ name: 'bootc' }, { name: 'sample', installed: false }]);
    });

    test.each([
      ['has another schema', indexOf().replace('"schemaVersion":1', '"schemaVersion":9')],
      ['is larger than an index may be', ' '.repeat(2 * 1024 ** 2)],
    ])('are missing when the index %s', async (_title, content) => {
      files.set('/index.json', Buffer.from(content));
      await reopen({ SVC_IMPORT_ALLOW: '127.0.0.1' });
      const answer = await edge.send('GET', '/api/plugins');
      expect([answer.headers['svc-partial'], answer.json]).toEqual([
        'true',
        [expect.objectContaining({ name: 'bootc' })],
      ]);
    });

    test('are missing when downloads may not connect to the index, which does not hide the others', async () => {
      await reopen({});
      const answer = await edge.send('GET', '/api/plugins');
      expect(answer.headers['svc-partial']).toBe('true');
      expect(answer.json).toMatchObject([{ name: 'bootc' }]);
      const refused = await edge.send('POST', '/api/plugins/sample/install');
      expect([refused.status, refused.json.error]).toEqual([
        404,
        expect.stringMatching(/127.0.0.1 is a private address/),
      ]);
    });
  });

  describe('VMs from bootc images', () => {
    const path = process.env['PATH'];
    let podman: FakePodman;

    beforeEach(async () => {
      podman = new FakePodman();
      process.env['PATH'] = `${podman.folder}:${path}`;
      await edge.reopen({ SVC_IMPORT_ALLOW: '127.0.0.1' });
    });
    afterEach(() => {
      process.env['PATH'] = path;
      podman.close();
    });

    const ended = async (id: string): Promise<TaskView> => {
      for (;;) {
        const task = (await edge.send('GET', `/api/tasks/${id}`)).json as unknown as TaskView;
        if (task.status !== 'running') return task;
        // Injected requests alone never let the programs of the task be read.
        await setImmediate();
      }
    };
    const capability = async () => (await edge.send('GET', '/api/capabilities')).json as unknown as CapabilitiesView;

    test('are refused with the remedy without the plugin', async () => {
      const refused = await edge.send('POST', '/api/vms', { name: 'new', bootc: IMAGE });
      expect([refused.status, refused.json.code]).toEqual([501, 'NOT_SUPPORTED']);
      expect(refused.json.error).toMatch(/bootc plugin, which is not installed. An administrator can install it/);
      expect((await capability()).bootc).toBe(false);
      expect((await capability()).contexts[0]?.sources['bootc']).toMatch(/not installed/);
    });

    const asRoot = process.getuid?.() === 0 ? test : test.skip;

    asRoot('are created by a task, from the disk that it builds (skipped unless the tests run as root)', async () => {
      await edge.send('POST', '/api/plugins/bootc/install');
      expect((await capability()).bootc).toBe(true);
      const body = { name: 'new', bootc: IMAGE, sshKey: KEY };
      const plan = await edge.send('POST', '/api/vms?dryRun=true', body);
      expect(plan.json).toMatchObject({ steps: [{ name: 'pull' }, { name: 'install' }, { name: 'remember' }] });
      expect(podman.calls()).toEqual([]);
      const accepted = await edge.send('POST', '/api/vms', body);
      const { task: id } = accepted.json as unknown as { task: string };
      expect([accepted.status, id]).toEqual([202, expect.stringMatching(/^bootc-new-/)]);
      const task = await ended(id);
      expect(task).toMatchObject({ kind: 'bootc', status: 'done', error: '' });
      expect(task.log).toContain('Installing image');
      expect(podman.keys()).toBe(`${KEY}\n`);
      expect((await edge.send('GET', '/api/vms/tailvm/new')).status).toBe(200);
      expect((await edge.send('POST', '/api/vms', body)).status).toBe(409);
    });

    asRoot('report a build that fails, and leave no VM (skipped unless the tests run as root)', async () => {
      await edge.send('POST', '/api/plugins/bootc/install');
      podman.behave({ labels: {} });
      const { json } = await edge.send('POST', '/api/vms', { name: 'new', bootc: IMAGE });
      const task = await ended(json['task'] as string);
      expect(task).toMatchObject({
        status: 'error',
        error: expect.stringMatching(/is not a bootable container image/) as string,
      });
      expect((await edge.send('GET', '/api/vms/tailvm/new')).status).toBe(404);
    });

    test.each([
      [{ name: 'new', image: 'tiny', sshKey: KEY }],
      [{ name: 'new', bootc: IMAGE, image: 'tiny' }],
      [{ name: 'new', bootc: '--privileged' }],
    ])('are refused as invalid: %j', async (body) => {
      expect((await edge.send('POST', '/api/vms', body)).status).toBe(400);
    });
  });
});
