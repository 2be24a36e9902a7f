import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { ContainerView, MetricsView, VmView } from '@headgate/api-contracts';
import type { KubeObject } from '@headgate/kube-sandbox';
import { Api } from './api.js';
import { EventStream, type StreamEvent } from './event-stream.js';
import { describeIf, KUBECTL } from './machine.js';
import { RunningService } from './running-service.js';
import { SimulatedCluster } from './simulated-cluster.js';
import { until } from './until.js';

const FIRST_START_TIMEOUT_MS = 600_000;

interface List {
  readonly status: number;
  readonly partial: boolean;
  readonly vms: VmView[];
}

describe('npm start -- --config FILE, with clusters', () => {
  let folder: string;
  let lab: SimulatedCluster;
  let prod: SimulatedCluster;
  let service: RunningService;
  let api: Api;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'headgate-clusters-'));
    // Failing imports are retried after a pause, which is not zero.
    lab = await SimulatedCluster.start('lab', { simulation: { timeScale: 0.001 } });
    prod = await SimulatedCluster.start('prod');
    lab.simulation.seedFleet(25);
    prod.simulation.seedVm({ name: 'ledger' }, { name: 'archive', status: 'Stopped' });
    service = await RunningService.start(['--config', SimulatedCluster.configure(folder, [lab, prod])]);
    api = new Api(service.url);
  }, FIRST_START_TIMEOUT_MS);

  afterAll(async () => {
    await service?.stop();
    await lab?.close();
    await prod?.close();
    rmSync(folder, { recursive: true });
  });

  const list = async (): Promise<List> => {
    const answer = await fetch(`${service.url}/api/vms`);
    const body = (await answer.json()) as VmView[] | { error: string };
    return {
      status: answer.status,
      partial: answer.headers.get('svc-partial') === 'true',
      vms: Array.isArray(body) ? body : [],
    };
  };

  const namesIn = ({ vms }: List, context: string): string[] =>
    vms
      .filter((vm) => vm.context === context)
      .map(({ name }) => name)
      .sort();

  const complete = ({ status, partial, vms }: List): boolean =>
    status === 200 && !partial && vms.every(({ stale }) => !stale);

  const untilRight = (): Promise<List> =>
    until(
      'the list is what the clusters have',
      list,
      (now) =>
        complete(now) &&
        [lab, prod].every((cluster) => String(namesIn(now, cluster.context)) === String(cluster.vmNames())),
    );

  const setTag = (cluster: SimulatedCluster, namespace: string, name: string, tag: string): void =>
    void cluster.sandbox.store.patch('virtualmachines.kubevirt.io', { namespace, name }, ({ metadata }) => {
      metadata.labels = { ...metadata.labels, [`svc.dev/tag.${tag}`]: 'true' };
    });

  test('reads send no requests to the clusters', async () => {
    expect((await untilRight()).vms).toHaveLength(27);
    await until(
      'the service has looked at what the clusters have',
      async () => [lab.takeRequests(), prod.takeRequests()],
      (asked) => asked.every((requests) => Object.keys(requests).length === 0),
    );
    for (const path of ['/api/vms', '/api/vms?q=running&sort=-cpu&limit=5', '/api/cts', '/metrics', '/readyz']) {
      for (let time = 0; time < 40; time++) expect((await fetch(`${service.url}${path}`)).status).toBe(200);
    }
    expect([lab.takeRequests(), prod.takeRequests()]).toEqual([{}, {}]);
  });

  test('a change in a cluster appears in the event stream and the list without a request', async () => {
    const stream = await EventStream.open(service.url);
    await stream.until('the snapshot', ({ name }) => name === 'snapshot');
    prod.takeRequests();
    setTag(prod, 'tailvm', 'ledger', 'seen');
    // Imports of the other cluster fail and begin again meanwhile.
    const isOfLedger = ({ name, data }: StreamEvent): boolean =>
      name === 'changed' && (data as VmView).ref === 'vm/prod/tailvm/ledger';
    expect((await stream.until('the change is emitted', isOfLedger)).data).toMatchObject({ tags: ['seen'] });
    expect((await list()).vms.find(({ name }) => name === 'ledger')?.tags).toEqual(['seen']);
    expect(prod.takeRequests()).toEqual({});
    stream.close();
  });

  describeIf(KUBECTL ? undefined : 'kubectl is not installed', 'the usage of a VM', () => {
    test('is what kubectl top shows for its pod', async () => {
      const kubeconfig = join(folder, 'kubectl-top');
      writeFileSync(kubeconfig, prod.sandbox.kubeconfig(), { mode: 0o600 });
      const selection = ['top', 'pod', '--no-headers', '-n', 'tailvm', '-l', 'kubevirt.io=virt-launcher'];
      const options = ['--kubeconfig', kubeconfig, '--cache-dir', join(folder, 'kubectl-cache')];
      const top = async () => {
        const { stdout } = await promisify(execFile)(KUBECTL ?? '', [...options, ...selection]);
        const [, millicores, mebibytes] = /^virt-launcher-ledger-\S+ +(\d+)m +(\d+)Mi/m.exec(stdout) ?? [];
        return { millicores: Number(millicores), mebibytes: Number(mebibytes) };
      };
      const live = async () => (await api.send<MetricsView>('GET', '/api/vms/tailvm/ledger/metrics')).body;
      // Both change every 15 seconds, and the service reads them about as often.
      await until(
        'both show the same values',
        async () => ({ ours: await live(), theirs: await top() }),
        ({ ours, theirs }) =>
          // Each rounds the use of two containers.
          Math.abs((ours.cpu ?? NaN) - theirs.millicores) <= 2 &&
          Math.abs((ours.memory?.usedBytes ?? NaN) / 1024 ** 2 - theirs.mebibytes) <= 1,
      );
    });
  });

  test('a cluster that is down does not hide the others, and recovers', async () => {
    const before = await list();
    const [gone, changed] = before.vms.filter(({ context }) => context === 'lab');
    await lab.sandbox.faults.serverDown();
    const during = await until('the list is partial', list, ({ partial }) => partial);
    expect(during.status).toBe(200);
    expect(during.vms.map(({ ref }) => ref)).toEqual(before.vms.map(({ ref }) => ref));
    expect(new Set(during.vms.filter(({ stale }) => stale).map(({ context }) => context))).toEqual(new Set(['lab']));
    expect(during.vms.filter(({ context }) => context === 'lab').every(({ stale }) => stale)).toBe(true);

    const body = { name: 'meanwhile', context: 'prod', containerDisk: 'images/tiny:1' };
    expect(await api.send('POST', '/api/vms', body)).toMatchObject({ status: 201 });
    await api.untilVm('meanwhile', 'is listed', (vm) => vm !== undefined);
    expect((await api.send('DELETE', '/api/vms/tailvm/meanwhile')).status).toBe(200);
    const refused = await api.send('POST', `/api/vms/${changed?.namespace}/${changed?.name}/start`);
    expect(refused).toMatchObject({ status: 503, body: { code: 'BACKEND_UNREACHABLE' } });
    // The last failure: that of a watch, or of an attempt to connect again.
    expect(refused.body['error']).toMatch(
      /^lab: The API server of lab at \S+ can't be reached: the connection (is refused|was cut)\.$/,
    );

    lab.sandbox.store.delete('virtualmachines.kubevirt.io', { namespace: gone!.namespace, name: gone!.name });
    setTag(lab, changed!.namespace, changed!.name, 'meanwhile');
    await lab.sandbox.faults.serverUp();
    const after = await untilRight();
    expect(after.vms.map(({ ref }) => ref)).not.toContain(gone?.ref);
    expect(after.vms.find(({ ref }) => ref === changed?.ref)?.tags).toContain('meanwhile');
  });

  test('reads answer 503 when no cluster can be reached, while the event stream stays open with the reason', async () => {
    const stream = await EventStream.open(service.url);
    await Promise.all([lab.sandbox.faults.serverDown(), prod.sandbox.faults.serverDown()]);
    await until('the list is 503', list, ({ status }) => status === 503);
    const lost = (context: string) =>
      stream.until(
        `${context} is reported as down`,
        ({ name, data }) => name === 'status' && (data as { context: string; up: boolean }).up === false,
      );
    expect((await lost('one')).data).toMatchObject({ reason: expect.stringMatching(/can't be reached/) });
    expect((await lost('the other')).data).toMatchObject({ reason: expect.stringMatching(/can't be reached/) });
    await Promise.all([lab.sandbox.faults.serverUp(), prod.sandbox.faults.serverUp()]);
    await untilRight();
    stream.close();
  });

  test('an API server that is killed during creations loses no VM and duplicates none', async () => {
    const names = Array.from({ length: 6 }, (_none, index) => `hgtest-${index}`);
    // The requests are still in flight when the server dies.
    const clear = lab.sandbox.faults.delay({ verb: 'create' }, 20);
    lab.takeRequests();
    const creations = names.map((name, index) =>
      api.send('POST', '/api/vms', {
        name,
        context: 'lab',
        containerDisk: 'images/tiny:1',
        // Every other one also needs a Secret.
        cloudInit: `#cloud-config\n# ${'x'.repeat(index % 2 ? 3000 : 10)}`,
      }),
    );
    const asked = { verb: 'create', resource: 'virtualmachines.kubevirt.io' };
    await until(
      'a VM is asked for',
      async () => lab.sandbox.requests.count(asked),
      (count) => count > 0,
    );
    await lab.sandbox.faults.serverDown();
    await lab.sandbox.faults.serverUp();
    const answers = await Promise.all(creations);
    clear();

    const there = names.filter((_name, index) => answers[index]?.status === 201);
    for (const { status, body } of answers)
      if (status !== 201) expect([status, body['code']]).toEqual([503, 'BACKEND_UNREACHABLE']);
    await until(
      'the cluster has those VMs that were promised, and no other',
      async () => lab.vmNames().filter((name) => name.startsWith('hgtest-')),
      (now) => String(now) === String(there),
    );
    await untilRight();
    const missing = names.filter((name) => !there.includes(name));
    for (const name of missing) {
      const again = await api.send('POST', '/api/vms', { name, context: 'lab', containerDisk: 'images/tiny:1' });
      expect([name, again.status]).toEqual([name, 201]);
      await api.untilVm(name, 'is listed', (vm) => vm !== undefined);
    }
    for (const name of names) expect((await api.send('DELETE', `/api/vms/tailvm/${name}`)).status).toBe(200);
    await untilRight();
    await until(
      'nothing of them is left',
      async () => lab.objects('tailvm').filter((object) => object.includes('hgtest-')),
      (left) => left.length === 0,
    );
  });

  const importInto = async (name: string, url: string): Promise<string> => {
    const { status, body } = await api.send<{ task: string }>('POST', '/api/vms', {
      name,
      context: 'lab',
      import: url,
    });
    expect(status).toBe(201);
    return body.task;
  };
  const dataVolumes = (): number => lab.sandbox.store.list('datavolumes.cdi.kubevirt.io').length;

  test('a VM whose import failed stays in the list with the reason until it is deleted, and its task ends', async () => {
    const before = dataVolumes();
    const task = await importInto('hgtest-dead', 'https://images.invalid/disk.qcow2');
    expect(await api.untilTask(task)).toMatchObject({ status: 'error', error: expect.stringContaining('got 404') });
    const failed = await api.untilVm('hgtest-dead', 'has a reason', (vm) => vm?.reason?.includes('got 404') === true);
    expect(failed).toMatchObject({ running: false, reason: expect.stringMatching(/^The disk .* can't be filled: /) });
    expect((await api.send('DELETE', '/api/vms/tailvm/hgtest-dead')).status).toBe(200);
    await api.untilVm('hgtest-dead', 'is gone', (vm) => vm === undefined);
    await until(
      'its disk is gone',
      async () => dataVolumes(),
      (count) => count === before,
    );
  });

  test('the task of a VM that is deleted during its import ends', async () => {
    const defaults = ['storageclass.kubernetes.io/is-default-class', 'storageclass.kubevirt.io/is-default-virt-class'];
    const classes = lab.sandbox.store.list<KubeObject>('storageclasses.storage.k8s.io');
    const annotate = (one: KubeObject, annotations: Record<string, string>): void =>
      void lab.sandbox.store.patch('storageclasses.storage.k8s.io', { name: one.metadata.name! }, ({ metadata }) => {
        metadata.annotations = annotations;
      });
    // Without a default class, an import waits for one.
    for (const one of classes) {
      const kept = Object.entries(one.metadata.annotations ?? {}).filter(([name]) => !defaults.includes(name));
      annotate(one, Object.fromEntries(kept));
    }
    const task = await importInto('hgtest-waiting', 'https://images.example/disk.qcow2');
    await api.untilVm('hgtest-waiting', 'waits', (vm) => vm?.reason?.includes('storageClass') === true);
    expect((await api.send('DELETE', '/api/vms/tailvm/hgtest-waiting')).status).toBe(200);
    expect(await api.untilTask(task)).toMatchObject({ status: 'error', error: expect.stringContaining('was deleted') });
    for (const one of classes) annotate(one, one.metadata.annotations ?? {});
  });

  test('capabilities promise images of the catalog only once it has one, which then works', async () => {
    const promised = async (): Promise<unknown> => {
      const { body } = await api.send<{ contexts: { context: string; sources: { image: unknown } }[] }>(
        'GET',
        '/api/capabilities',
      );
      return body.contexts.find(({ context }) => context === 'prod')?.sources.image;
    };
    const wanted = { name: 'hgtest-own', context: 'prod', image: 'own', start: true };
    expect(await promised()).toMatch(/^The catalog has no image for this context\./);
    expect((await api.send('GET', '/api/images')).body).toEqual([]);
    expect(await api.send('POST', '/api/vms', wanted)).toMatchObject({
      status: 400,
      body: { code: 'UNKNOWN_CATALOG_ENTRY' },
    });

    const source = { name: 'own', kind: 'containerDisk', uri: 'images.example/debian:12' };
    expect((await api.send('POST', '/api/sources', source)).status).toBe(200);
    expect(await promised()).toBe(true);
    expect((await api.send('POST', '/api/vms', wanted)).status).toBe(201);
    const vm = await api.untilVm('hgtest-own', 'runs', (now) => now?.status === 'Running');
    // It keeps its data: the image is imported into a volume.
    expect(vm).not.toHaveProperty('volatile');
    expect((await api.send('DELETE', '/api/vms/tailvm/hgtest-own')).status).toBe(200);
    await api.untilVm('hgtest-own', 'is gone', (now) => now === undefined);
    expect((await api.send('DELETE', '/api/sources/own')).status).toBe(200);
    expect(await promised()).toMatch(/no image/);
  });

  test('a VM and a container of the same name share nothing, and deleting one leaves the other intact', async () => {
    const before = prod.objects('tailvm');
    const added = (): string[] => prod.objects('tailvm').filter((object) => !before.includes(object));
    const vm = {
      name: 'twin',
      context: 'prod',
      import: 'https://images.example/debian-12.qcow2',
      cloudInit: `#cloud-config\n# ${'x'.repeat(3000)}`,
      start: true,
    };
    const box = { name: 'twin', context: 'prod', image: 'debian:12' };
    const makeVm = async (): Promise<void> => {
      expect((await api.send('POST', '/api/vms', vm)).status).toBe(201);
      await api.untilVm('twin', 'runs', (now) => now?.status === 'Running');
    };
    const containers = async (): Promise<(string | undefined)[]> =>
      (await api.send<ContainerView[]>('GET', '/api/cts?context=prod')).body.map(
        ({ name, phase }) => `${name} ${phase}`,
      );

    expect((await api.send('POST', '/api/cts', box)).status).toBe(201);
    await until('the container runs', containers, (now) => now.includes('twin Running'));
    const ofContainer = added();
    expect(ofContainer.length).toBeGreaterThanOrEqual(2);
    await makeVm();
    const ofVm = added().filter((object) => !ofContainer.includes(object));
    expect(ofVm.length).toBeGreaterThanOrEqual(4);

    expect((await api.send('DELETE', '/api/vms/tailvm/twin')).status).toBe(200);
    await until(
      'nothing of the VM is left, and everything of the container is',
      async () => added(),
      (now) => String(now) === String(ofContainer),
    );
    expect(await containers()).toContain('twin Running');

    await makeVm();
    const ofSecondVm = added().filter((object) => !ofContainer.includes(object));
    expect((await api.send('DELETE', '/api/cts/tailvm/twin')).status).toBe(200);
    await until(
      'nothing of the container is left, and everything of the VM is',
      async () => added(),
      (now) => String(now) === String(ofSecondVm),
    );
    expect((await api.vm('twin'))?.status).toBe('Running');
    expect((await api.send('DELETE', '/api/vms/tailvm/twin')).status).toBe(200);
    await until(
      'nothing is left',
      async () => added(),
      (now) => now.length === 0,
    );
  });
});

describe('npm start -- --config FILE, with clusters that refuse', () => {
  const clusters: SimulatedCluster[] = [];
  let folder: string;
  let service: RunningService;
  let api: Api;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'headgate-clusters-'));
    const expired = await SimulatedCluster.start('expired', { user: 'alice' });
    const narrow = await SimulatedCluster.start('narrow', { user: 'bob', sandbox: { rbac: { bob: [] } } });
    const plain = await SimulatedCluster.start('plain', { simulation: { without: ['cdi'] } });
    clusters.push(expired, narrow, plain);
    const config = SimulatedCluster.configure(folder, clusters);
    expired.sandbox.revoke(expired.sandbox.tokenForUser('alice'));
    service = await RunningService.start(['--config', config]);
    api = new Api(service.url);
  }, FIRST_START_TIMEOUT_MS);

  afterAll(async () => {
    await service?.stop();
    for (const cluster of clusters) await cluster.close();
    rmSync(folder, { recursive: true });
  });

  const contextOf = async (name: string): Promise<{ up: boolean; reason?: string } | undefined> => {
    const { body } = await api.send<{ contexts: { context: string; up: boolean; reason?: string }[] }>(
      'GET',
      '/api/capabilities',
    );
    return body.contexts.find(({ context }) => context === name);
  };

  test.each([
    [
      'an expired token',
      'expired',
      /^The API server of expired does not accept the credentials: the token has expired or is invalid \([^)]*\)\.$/,
    ],
    [
      'a forbidden verb',
      'narrow',
      /^narrow does not let bob list virtualmachine(s|instances)\.kubevirt\.io at the cluster scope: grant it that verb\.$/,
    ],
  ])('reports %s in one sentence', async (_what, name, sentence) => {
    const { reason } = (await until(
      `${name} is refused`,
      () => contextOf(name),
      (now) => now?.reason !== undefined,
    ))!;
    expect(reason).toMatch(sentence);
    expect((await contextOf('plain'))?.up).toBe(true);
  });

  test('names the missing CDI where it is needed, and works without it elsewhere', async () => {
    const wanted = { name: 'hgtest', context: 'plain' };
    const refused = await api.send('POST', '/api/vms', { ...wanted, import: 'https://images.example/debian-12.qcow2' });
    expect(refused).toMatchObject({ status: 501, body: { code: 'NOT_SUPPORTED' } });
    expect(refused.body['error']).toMatch(/^[^.]*\bCDI\b[^]*\.$/);
    expect((await api.send('POST', '/api/vms', { ...wanted, containerDisk: 'images/tiny:1' })).status).toBe(201);
    await api.untilVm('hgtest', 'is listed', (vm) => vm !== undefined);
    expect((await api.send('DELETE', '/api/vms/tailvm/hgtest')).status).toBe(200);
  });
});
