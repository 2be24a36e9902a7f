import { createHash, randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BackupPointView, CapabilitiesView, PlanView, SignedProofView, TaskView } from '@headgate/api-contracts';
import { Api } from './api.js';
import { HeadgateProgram, type Outcome } from './headgate-program.js';
import { processesWith } from './processes.js';
import { RunningService } from './running-service.js';
import { SimulatedCluster } from './simulated-cluster.js';

const TIMEOUT_MS = 600_000;
const NAMESPACE = 'tailvm';
const NAME = 'db';
const MIB = 1024 ** 2;
const VMIS = 'virtualmachineinstances.kubevirt.io';
const DATA_VOLUMES = 'datavolumes.cdi.kubevirt.io';

/** Guests of the cluster are simulated, and their disks have real bytes. */
describe('the proof of a backup of a cluster', () => {
  const folder = mkdtempSync(join(tmpdir(), 'headgate-cluster-proofs-'));
  const backups = join(folder, 'backups');
  const content = randomBytes(3 * MIB);
  let cluster: SimulatedCluster;
  let args: string[];
  let service: RunningService;
  let api: Api;
  let program: HeadgateProgram;
  let target: string;
  let point: string;

  beforeAll(async () => {
    // With the rights of the manifests, and no others.
    cluster = await SimulatedCluster.start('lab', { deployed: true });
    mkdirSync(backups);
    const config = SimulatedCluster.configure(folder, [cluster]);
    const given = JSON.parse(readFileSync(config, 'utf8')) as object;
    writeFileSync(config, JSON.stringify({ ...given, backups: { folders: [backups] } }));
    args = ['--config', config];
    service = await RunningService.start(args);
    api = new Api(service.url);
    program = await HeadgateProgram.build(service.url);
    const repository = {
      name: 'lab',
      kind: 'directory',
      path: join(backups, 'lab'),
      password: 'correct horse battery',
    };
    target = (await api.send<{ id: string }>('POST', '/api/ext/backups/targets', repository)).body.id;
    const spec = {
      name: NAME,
      import: 'https://images.example/d.qcow2',
      cpu: 1,
      mem: '1Gi',
      disk: '64Mi',
      start: true,
    };
    expect((await api.send('POST', '/api/vms', spec)).status).toBe(201);
    await api.untilVm(NAME, 'runs', (vm) => vm?.status === 'Running');
    const claim = listed('persistentvolumeclaims').find((name) => name.startsWith(`${NAME}-root-`)) ?? '';
    await cluster.simulation.writeDisk(NAMESPACE, claim, 5 * MIB, content);
    const path = `/api/ext/vms/${NAMESPACE}/${NAME}/backup`;
    const { body } = await api.send<{ task: string }>('POST', path, { target });
    expect(await api.untilTask(body.task)).toMatchObject({ status: 'done', error: '' });
    const points = await api.send<BackupPointView[]>('GET', `/api/ext/backups/targets/${target}/points`);
    point = points.body[0]?.id ?? '';
    expect(points.body).toHaveLength(1);
  }, TIMEOUT_MS);

  afterAll(async () => {
    await service?.stop();
    program?.remove();
    await cluster?.close();
    rmSync(folder, { recursive: true, force: true });
  }, TIMEOUT_MS);

  const listed = (resource: string): string[] =>
    cluster.sandbox.store.list(resource, { namespace: NAMESPACE }).map(({ metadata }) => metadata.name);
  const pathOf = (action: string): string => `/api/ext/backups/targets/${target}/points/${point}/${action}`;
  const begin = async (): Promise<string> => {
    const { status, body } = await api.send<{ task: string }>('POST', pathOf('prove'), { context: 'lab' });
    expect(status).toBe(202);
    return body.task;
  };
  const prove = async (): Promise<TaskView> => api.untilTask(await begin());
  const certificate = async (): Promise<SignedProofView> =>
    (await api.send<SignedProofView>('GET', pathOf('proof'))).body;
  const verify = async (document: object, ...more: string[]): Promise<Outcome> => {
    const [file, key] = [join(folder, 'proof.json'), join(folder, 'key.json')];
    writeFileSync(file, JSON.stringify(document));
    writeFileSync(key, JSON.stringify((await api.send('GET', '/api/ext/backups/proof-key')).body));
    return program.run(['proof', 'verify', file, '--key', key, ...more]);
  };
  const restart = async (): Promise<void> => {
    const { dataDir } = service;
    service = await RunningService.start(args, { dataDir });
    api = new Api(service.url);
  };

  test(
    'boots a copy without a network, leaves nothing in the cluster, and is verified without the service',
    async () => {
      const { body: capabilities } = await api.send<CapabilitiesView>('GET', '/api/capabilities');
      expect(capabilities.contexts[0]?.abilities).toMatchObject({ bootProof: true });
      const plan = await api.send<PlanView>('POST', `${pathOf('prove')}?dryRun=true`, { context: 'lab' });
      expect(plan.body.refusals).toEqual([]);
      expect(plan.body.steps.map(({ name }) => name)).toEqual(['copy', 'boot', 'certify']);
      expect(plan.body.steps[0]?.detail).toMatch(/^Copy all 64Mi of the disks .* in tailvm\.$/);
      const refused = await api.send<PlanView>('POST', `${pathOf('prove')}?dryRun=true`, {
        context: 'lab',
        command: { path: '/bin/true' },
      });
      expect(refused.body.refusals).toMatchObject([{ code: 'NOT_SUPPORTED' }]);

      const before = cluster.objects(NAMESPACE);
      const guests: object[] = [];
      const seen: string[] = [];
      const unsubscribe = cluster.sandbox.store.subscribe(VMIS, ({ type, object }) => {
        if (type === 'ADDED') guests.push((object as unknown as { spec: object }).spec);
        void api
          .send<{ name: string }[]>('GET', '/api/vms')
          .then(({ body }) => seen.push(...body.map(({ name }) => name)));
      });
      expect(await prove()).toMatchObject({ status: 'done', error: '' });
      unsubscribe();
      expect(guests).toEqual([
        expect.objectContaining({
          domain: expect.objectContaining({ devices: expect.objectContaining({ autoattachPodInterface: false }) }),
        }),
      ]);
      expect(guests[0]).not.toHaveProperty('networks.0');
      expect(new Set(seen)).toEqual(new Set([NAME]));
      expect(cluster.objects(NAMESPACE)).toEqual(before);

      const signed = await certificate();
      const [disk] = signed.certificate.disks;
      expect(signed.certificate).toMatchObject({
        outcome: 'booted',
        verified: 'all',
        ref: `vm/lab/${NAMESPACE}/${NAME}`,
        context: 'lab',
        seen: { kind: expect.stringMatching(/^(agent|prompt)$/) },
      });
      expect(signed.certificate).not.toHaveProperty('readBytes');
      expect(disk?.sha256).toMatch(/^[0-9a-f]{64}$/);
      const answer = await fetch(`${service.url}${pathOf('proof/picture')}`);
      const picture = Buffer.from(await answer.arrayBuffer());
      expect(picture.toString('latin1', 1, 4)).toBe('PNG');
      const file = join(folder, 'screen.png');
      writeFileSync(file, picture);
      expect(createHash('sha256').update(picture).digest('hex')).toBe(signed.certificate.picture?.sha256);
      const verified = await verify(signed, '--picture', file);
      expect(verified).toMatchObject({ code: 0, stdout: expect.stringContaining('all of the disks') });
      const forged = { ...signed, certificate: { ...signed.certificate, ref: `vm/lab/${NAMESPACE}/other` } };
      expect((await verify(forged)).code).toBe(1);
    },
    TIMEOUT_MS,
  );

  test.each<[string, string, (name: string) => boolean]>([
    ['a copy was created', DATA_VOLUMES, (name) => name.endsWith('-disk0')],
    ['the guest was started', VMIS, () => true],
  ])(
    'begins again after the service was killed when %s',
    async (_name, resource, matches) => {
      const before = cluster.objects(NAMESPACE);
      const { dataDir } = service;
      const killed = new Promise<void>((resolve) => {
        const unsubscribe = cluster.sandbox.store.subscribe(resource, ({ type, object }) => {
          const { name = '' } = object.metadata;
          if (type !== 'ADDED' || !name.startsWith('headgate-proof-') || !matches(name)) return;
          unsubscribe();
          for (const line of processesWith(dataDir).filter((one) => one.includes('main.js')))
            process.kill(Number.parseInt(line, 10), 'SIGKILL');
          resolve();
        });
      });
      const task = await begin();
      await killed;
      await service.interrupt();
      expect(listed('virtualmachines.kubevirt.io')).toHaveLength(2);
      await restart();
      expect(await api.untilTask(task)).toMatchObject({ status: 'done', error: '' });
      expect(cluster.objects(NAMESPACE)).toEqual(before);
      expect((await verify(await certificate())).code).toBe(0);
    },
    TIMEOUT_MS,
  );

  test(
    'fails a backup with one flipped bit, with a signed certificate',
    async () => {
      // The service may have the blocks of the proof before.
      await service.interrupt();
      const data = join(backups, 'lab/data');
      const packs = readdirSync(data, { recursive: true, encoding: 'utf8' }).map((name) => join(data, name));
      const [largest = ''] = packs
        .filter((name) => statSync(name).isFile())
        .sort((a, b) => statSync(b).size - statSync(a).size);
      const bytes = readFileSync(largest);
      expect(bytes.length).toBeGreaterThan(MIB);
      const at = Math.floor(bytes.length / 2);
      bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at);
      rmSync(largest);
      writeFileSync(largest, bytes);
      await restart();
      const before = cluster.objects(NAMESPACE);
      expect(await prove()).toMatchObject({
        status: 'error',
        error: expect.stringMatching(/^The backup has not passed its proof: The disk .* can't be read/),
      });
      const signed = await certificate();
      expect(signed.certificate).toMatchObject({ outcome: 'failed', verified: 'booted' });
      const verified = await verify(signed);
      expect([verified.code, verified.stdout]).toEqual([1, expect.stringContaining('failed: The disk')]);
      expect(cluster.objects(NAMESPACE)).toEqual(before);
    },
    TIMEOUT_MS,
  );
});
