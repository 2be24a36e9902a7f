import 'reflect-metadata';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SystemClock, type Backend } from '@headgate/domain-contracts';
import type { KubeObject, KubeSandbox } from '@headgate/kube-sandbox';
import { pino } from 'pino';
import { parseCommandLine } from '../config/command-line.js';
import { loadSettings } from '../config/load-config.js';
import { createService, type Service } from '../create-app.js';
import { TestPeers } from '../testing/edge.js';

const VMS = 'virtualmachines.kubevirt.io';
const NAMESPACE = 'tailvm';
const KEY = { namespace: NAMESPACE, name: 'web' };
const WEB = `vm/cluster/${NAMESPACE}/web`;
const MAX_TURNS = 20_000;
const BOX = `ct/cluster/${NAMESPACE}/box`;

/** The whole service over a simulated cluster, in which another program deletes and creates objects. */
describe('a member of a folder in a cluster', () => {
  let sandbox: KubeSandbox;
  let backend: Backend & { close(): Promise<void> };
  let service: Service;
  let folder: string;
  let token: Record<string, string>;

  const open = async (): Promise<void> => {
    const { KubeBackend } = await import('@headgate/kube-adapter');
    backend = KubeBackend.open({
      context: 'cluster',
      kubeconfig: { text: sandbox.kubeconfig() },
      clock: new SystemClock(),
    });
    service = await createService({
      settings: loadSettings(parseCommandLine(['--data-dir', folder, '--listen', '127.0.0.1:0']), {}),
      contexts: {
        backends: [backend],
        simulated: new Set(),
        hasTinyGuest: false,
        notes: [],
        close: () => backend.close(),
      },
      log: pino({ level: 'silent' }),
      pageDir: folder,
      peerUsers: new TestPeers(),
    });
    await service.start();
  };
  const send = async (method: string, url: string, payload?: object, headers: Record<string, string> = {}) => {
    const reply = await service.app.inject({
      method: method as 'GET',
      url,
      ...(payload && { payload }),
      headers: { host: 'localhost:8006', ...headers },
    });
    return { status: reply.statusCode, json: reply.json<Record<string, unknown>>() };
  };
  const until = async (isMet: () => Promise<boolean>): Promise<void> => {
    for (let turn = 0; turn < MAX_TURNS && !(await isMet()); turn++)
      await new Promise((resolve) => setImmediate(resolve));
    expect(await isMet()).toBe(true);
  };
  const names = async (headers = token): Promise<string[]> => {
    const lists = await Promise.all(['/api/vms', '/api/cts'].map((url) => send('GET', url, undefined, headers)));
    return lists.flatMap(({ json }) => (json as unknown as { name: string }[]).map(({ name }) => name));
  };
  const prod = async () => {
    const { json } = await send('GET', '/api/folders');
    const [found] = json['folders'] as { members: { ref: string }[]; missing: string[] }[];
    return { members: found?.members.map(({ ref }) => ref), missing: found?.missing };
  };
  const createVm = async (): Promise<void> => {
    const { status, json } = await send('POST', '/api/vms', {
      name: 'web',
      namespace: NAMESPACE,
      cpu: 1,
      mem: '1Gi',
      containerDisk: 'registry.example/fedora:42',
    });
    expect([status, json['error']]).toEqual([201, undefined]);
  };
  const createContainer = async (inFolder: { folder?: string } = {}): Promise<void> => {
    const body = { name: 'box', image: 'docker.io/library/alpine', ...inFolder };
    expect((await send('POST', '/api/cts', body)).status).toBe(201);
  };
  const uid = (): unknown => sandbox.store.get<KubeObject>(VMS, KEY)?.metadata.uid;

  beforeEach(async () => {
    const [{ KubeSandbox }, { KubevirtSimulation }] = await Promise.all([
      import('@headgate/kube-sandbox'),
      import('@headgate/kubevirt-sandbox'),
    ]);
    folder = mkdtempSync(join(tmpdir(), 'headgate-members-'));
    sandbox = await KubeSandbox.listen({ extensions: [new KubevirtSimulation({ timeScale: 0 })] });
    await open();
    await createVm();
    await createContainer();
    await until(async () => (await names({})).length === 2);
    await send('POST', '/api/folders', { path: 'prod' });
    for (const ref of [WEB, BOX])
      expect((await send('POST', '/api/folders/members', { path: 'prod', ref })).status).toBe(200);
    const body = { name: 'ci', actions: ['delete'], scope: { folder: 'prod' } };
    const { json } = await send('POST', '/api/ext/tokens', body);
    token = { authorization: `Bearer ${String(json['token'])}` };
  });

  afterEach(async () => {
    await service.close();
    await sandbox.close();
    rmSync(folder, { recursive: true });
  });

  test('is missing when kubectl deletes its object, and a new object of its name is in no folder', async () => {
    expect(await names()).toEqual(['web', 'box']);
    const before = uid();
    sandbox.store.delete(VMS, KEY);
    await until(async () => (await names()).join() === 'box');
    await createVm();
    await until(async () => (await names({})).length === 2);
    expect(uid()).not.toBe(before);
    expect([await names(), await prod()]).toEqual([['box'], { members: [BOX], missing: [WEB] }]);
    expect((await send('DELETE', `/api/vms/${NAMESPACE}/web`, undefined, token)).status).toBe(404);
  });

  test('is the same container while it is stopped, and another one after it was deleted', async () => {
    await send('POST', `/api/cts/${NAMESPACE}/box/stop`);
    expect(await names()).toEqual(['web', 'box']);
    expect((await send('DELETE', `/api/cts/${NAMESPACE}/box`)).status).toBe(200);
    await until(async () => (await names({})).length === 1);
    await createContainer();
    await until(async () => (await names({})).length === 2);
    expect([await names(), await prod()]).toEqual([['web'], { members: [WEB], missing: [] }]);
    await send('DELETE', `/api/cts/${NAMESPACE}/box`);
    await until(async () => (await names({})).length === 1);
    await createContainer({ folder: 'prod' });
    expect([await names(), await prod()]).toEqual([['web', 'box'], { members: [WEB, BOX], missing: [] }]);
  });

  test('stays until its accepted deletion is complete, also over a restart of the service, and then ends', async () => {
    sandbox.store.patch(VMS, KEY, (draft) => {
      const { metadata } = draft as unknown as { metadata: { finalizers?: string[] } };
      metadata.finalizers = [...(metadata.finalizers ?? []), 'example.org/kept'];
    });
    expect((await send('DELETE', `/api/vms/${NAMESPACE}/web`, undefined, token)).status).toBe(200);
    expect(await names()).toEqual(['web', 'box']);
    await service.close();
    sandbox.store.patch(VMS, KEY, (draft) => {
      (draft as unknown as { metadata: { finalizers: string[] } }).metadata.finalizers = [];
    });
    expect(uid()).toBeUndefined();
    await open();
    await until(async () => (await names()).join() === 'box');
    expect(await prod()).toEqual({ members: [BOX], missing: [] });
    await createVm();
    await until(async () => (await names({})).length === 2);
    expect([await names(), await prod()]).toEqual([['box'], { members: [BOX], missing: [] }]);
  });
});
