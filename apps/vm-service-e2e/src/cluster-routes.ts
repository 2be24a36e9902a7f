import { gunzipSync } from 'node:zlib';
import type { VmView, WatchersView } from '@headgate/api-contracts';
import type { Api } from './api.js';
import { Terminal } from './terminal.js';
import { until } from './until.js';

/** The service under test, after it started. */
export interface Served {
  readonly api: Api;
  /** URL of the service, with the scheme ws: */
  readonly socketUrl: string;
  readonly context: string;
}

/** The routes of VMs and containers over a cluster with simulated guests, for any operator and any rights. */
export function clusterRoutes(served: () => Served): void {
  const send: Api['send'] = (method, path, body) => served().api.send(method, path, body);

  test('creates and starts a VM, opens both consoles, and tags, pauses, restarts and deletes it', async () => {
    const { api, socketUrl, context } = served();
    const created = await send('POST', '/api/vms', {
      name: 'hgtest',
      containerDisk: 'images/tiny:1',
      mem: '1Gi',
      start: true,
    });
    const ref = `vm/${context}/tailvm/hgtest`;
    expect([created.status, created.body]).toEqual([201, { name: 'hgtest', namespace: 'tailvm', ref }]);
    await api.untilVm('hgtest', 'runs', (vm) => vm?.status === 'Running');

    const terminal = await Terminal.open(`${socketUrl}/api/tty/tailvm/hgtest`);
    terminal.type('\r');
    await terminal.expect(/login: /);
    await terminal.close();
    const picture = async (width: number): Promise<number[]> => {
      const address = `${socketUrl.replace(/^ws/, 'http')}/api/ext/vms/tailvm/hgtest/screen?width=${width}`;
      const answer = await fetch(address);
      return [answer.status, Buffer.from(await answer.arrayBuffer()).readUInt32BE(16)];
    };
    expect(await picture(320)).toEqual([200, 320]);
    const screen = await Terminal.open(`${socketUrl}/api/vnc/tailvm/hgtest`);
    await screen.expect(/^RFB 003\./);
    expect(await picture(200)).toEqual([200, 200]);
    const { body } = await api.send<WatchersView>('GET', '/api/ext/vms/tailvm/hgtest/watchers');
    expect(body.watchers).toContainEqual(expect.objectContaining({ kind: 'vnc', you: true }));
    await screen.close();

    expect((await send('POST', '/api/vms/tailvm/hgtest/tags', { tag: 'e2e', on: true })).body).toEqual({
      tag: 'e2e',
      on: true,
    });
    await api.untilVm('hgtest', 'has its tag', (vm) => vm?.tags.join() === 'e2e');
    await send('POST', '/api/vms/tailvm/hgtest/pause');
    await api.untilVm('hgtest', 'is frozen', (vm) => vm?.status === 'Paused');
    await send('POST', '/api/vms/tailvm/hgtest/unpause');
    await api.untilVm('hgtest', 'goes on', (vm) => vm?.status === 'Running');
    expect((await send('POST', '/api/vms/tailvm/hgtest/stop?force=true')).body).toEqual({ status: 'ok' });
    await api.untilVm('hgtest', 'has stopped', (vm) => vm?.status === 'Stopped');
    expect((await send('POST', '/api/vms/tailvm/hgtest/restart')).status).toBe(409);
    expect((await send<{ kind: string }>('GET', '/api/vms/tailvm/hgtest')).body.kind).toBe('VirtualMachine');
    expect((await send('DELETE', '/api/vms/tailvm/hgtest')).body).toEqual({ status: 'deleted' });
    await api.untilVm('hgtest', 'is gone', (vm) => vm === undefined);
  });

  test('exports the disk of a stopped VM, also after a client has left', async () => {
    const { api } = served();
    const vm = '/api/vms/tailvm/hgtest-export';
    const body = { name: 'hgtest-export', import: 'https://images.example/fedora.qcow2', disk: '1Gi', mem: '1Gi' };
    expect((await send('POST', '/api/vms', body)).status).toBe(201);
    await api.untilVm('hgtest-export', 'has its disk', (one) => one?.status === 'Stopped');
    const left = new AbortController();
    const leaving = await fetch(`${api.url}${vm}/export`, { signal: left.signal });
    left.abort();
    expect(leaving.status).toBe(200);
    const response = await fetch(`${api.url}${vm}/export`);
    expect([
      response.status,
      response.headers.get('content-type'),
      response.headers.get('content-disposition'),
    ]).toEqual([200, 'application/gzip', 'attachment; filename="hgtest-export.img.gz"']);
    expect(gunzipSync(Buffer.from(await response.arrayBuffer())).length).toBeGreaterThan(0);
    expect((await send('GET', `${vm}/export?format=qcow2`)).status).toBe(501);
    expect((await send('GET', `${vm}/export?checkpoint=one`)).status).toBe(501);
    expect((await send('POST', `${vm}/start`)).status).toBe(200);
    await api.untilVm('hgtest-export', 'runs', (one) => one?.status === 'Running');
    expect((await send('GET', `${vm}/export`)).status).toBe(409);
    expect((await send('DELETE', vm)).status).toBe(200);
    await api.untilVm('hgtest-export', 'is gone', (one) => one === undefined);
  });

  test('keeps a long cloud-init text in a Secret that is deleted with its VM', async () => {
    const { api } = served();
    const cloudInit = `#cloud-config\n# ${'x'.repeat(4000)}\n`;
    expect(
      (await send('POST', '/api/vms', { name: 'hgtest-ci', containerDisk: 'images/tiny:1', cloudInit })).status,
    ).toBe(201);
    await api.untilVm('hgtest-ci', 'is listed', (vm) => vm !== undefined);
    expect((await send('DELETE', '/api/vms/tailvm/hgtest-ci')).body).toEqual({ status: 'deleted' });
    await api.untilVm('hgtest-ci', 'is gone', (vm) => vm === undefined);
  });

  test('migrates a running VM and tracks it as a task', async () => {
    const { api } = served();
    const { body } = await send<VmView[]>('GET', '/api/vms?q=running');
    const running = body.find((vm) => vm.liveMigratable);
    expect(running).toBeDefined();
    const accepted = await send<{ task: string; status: string }>(
      'POST',
      `/api/vms/${running?.namespace}/${running?.name}/migrate`,
      {},
    );
    expect([accepted.status, accepted.body.status]).toEqual([202, 'ok']);
    expect(accepted.body.task).toMatch(/^migrate-/);
    expect(await api.untilTask(accepted.body.task)).toMatchObject({ status: 'done', error: '', progress: 1 });
  });

  test.each([false, true])('runs a container (privileged: %s): a shell, stop, start and delete', async (privileged) => {
    const { socketUrl } = served();
    const name = `hgtest-ct-${privileged}`;
    expect((await send('POST', '/api/cts', { name, image: 'debian:12', privileged })).status).toBe(201);
    const phase = async (): Promise<string | undefined> =>
      (await send<{ name: string; phase: string }[]>('GET', '/api/cts')).body.find((one) => one.name === name)?.phase;
    await until('the container runs', phase, (now) => now === 'Running');
    const shell = await Terminal.open(`${socketUrl}/api/tty/tailvm/${name}`);
    shell.type('echo in-here\r');
    await shell.expect(/in-here/);
    await shell.close();
    const details = `/api/ext/cts/tailvm/${name}`;
    const log = await fetch(`${served().api.url}${details}/logs?tail=5`);
    expect([log.status, await log.text()]).toEqual([200, expect.stringContaining('ready\n')]);
    const reasons = (await send<{ reason: string }[]>('GET', `${details}/events`)).body.map(({ reason }) => reason);
    expect(reasons).toContain('Started');
    expect((await send('GET', details)).body).toMatchObject({ metadata: { name } });
    expect((await send<{ error: string }>('POST', `${details}/snapshots`)).body.error).toMatch(/of containers\.$/);
    expect((await send('POST', `/api/cts/tailvm/${name}/stop`)).body).toEqual({ status: 'ok' });
    await until('the container has stopped', phase, (now) => now === 'Stopped');
    expect((await send('POST', `/api/cts/tailvm/${name}/start`)).body).toEqual({ status: 'ok' });
    await until('the container runs again', phase, (now) => now === 'Running');
    expect((await send('DELETE', `/api/cts/tailvm/${name}`)).body).toEqual({ status: 'deleted' });
    await until('the container is gone', phase, (now) => now === undefined);
  });

  test('reports the parts of the cluster and its checks', async () => {
    expect((await send<unknown[]>('GET', '/api/nodes')).body.length).toBeGreaterThan(0);
    const [node] = (await send<{ name: string; context: string }[]>('GET', '/api/ext/nodes')).body;
    const failure = `/api/ext/nodes/${node!.name}/failure?context=${node!.context}`;
    expect((await send<object>('GET', failure)).body).toMatchObject({ node: node!.name, hidden: 0 });
    const storages = (await send<{ segments: unknown[]; modes: unknown[] }[]>('GET', '/api/ext/storage')).body;
    expect(storages.some(({ segments, modes }) => segments.length > 0 && modes.length > 0)).toBe(true);
    expect((await send<unknown[]>('GET', '/api/ext/networks')).body.length).toBeGreaterThan(0);
    const { body } = await send<{ instancetypes: string[]; preferences: string[] }>('GET', '/api/instancetypes');
    expect([body.instancetypes, body.preferences]).toEqual([
      expect.arrayContaining(['u1.medium']),
      expect.arrayContaining(['fedora']),
    ]);
    const checks = (await send<{ status: string; message: string }[]>('GET', '/api/doctor')).body;
    expect(checks.filter(({ status }) => status === 'error')).toEqual([]);
    expect((await send('GET', '/api/capabilities')).body).toMatchObject({ canExpand: true, canSnapshot: true });
  });
}
