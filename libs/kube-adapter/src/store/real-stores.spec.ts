import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describeOnRealApiServer, findPeer, RealApiServer } from '@headgate/testing';
import type { KubeSharedStore } from './kube-shared-store.js';
import { installDefinitions, RealStoreCluster } from './testing/real-store-cluster.contract.js';
import { storeContracts } from './testing/store-contracts.contract.js';

const START_TIMEOUT_MS = 180_000;

describeOnRealApiServer('on a real API server', () => {
  let server: RealApiServer;
  beforeAll(async () => {
    server = await RealApiServer.start();
    await installDefinitions(server);
  }, START_TIMEOUT_MS);
  afterAll(() => server.close());

  storeContracts('custom resources', () => RealStoreCluster.open(server));

  describe('the replicas', () => {
    const LEASE_TIMES = { durationMs: 2_000, renewDeadlineMs: 1_500, retryMs: 300 };
    let cluster: RealStoreCluster;
    beforeEach(async () => {
      cluster = await RealStoreCluster.open(server);
    });
    afterEach(() => cluster.close());

    test('have one leader, which leaves its place to another when it is closed', async () => {
      const replicas: KubeSharedStore[] = [];
      for (const replica of ['a', 'b', 'c']) replicas.push(await cluster.join({ replica, leaseTimes: LEASE_TIMES }));
      const leaders = (): string[] =>
        replicas.filter(({ replicas: own }) => own.isLeader).map(({ replicas: own }) => own.id);
      await until(() => leaders().length === 1 && replicas.every(({ replicas: own }) => own.isMember));
      const [first] = leaders();
      await replicas.find(({ replicas: own }) => own.id === first)!.close();
      await until(() => leaders().length === 1 && leaders()[0] !== first);
      expect(await replicas.find(({ replicas: own }) => own.isLeader)!.replicas.isGone(first!)).toBe(true);
    });

    test('claim a name for one of them, however many ask at the same time', async () => {
      const replicas = await Promise.all(
        ['a', 'b', 'c'].map((replica) => cluster.join({ replica, leaseTimes: LEASE_TIMES })),
      );
      await until(() => replicas.every(({ replicas: own }) => own.isMember));
      const owners = await Promise.all(replicas.map(({ replicas: own }) => own.claim('vnc/web')));
      expect(new Set(owners).size).toBe(1);
    });

    test('stop being members when the server is gone, and continue when it is back', async () => {
      const { replicas } = await cluster.join({ replica: 'a', leaseTimes: LEASE_TIMES });
      await until(() => replicas.isMember && replicas.isLeader);
      server.server.freeze();
      await until(() => !replicas.isMember && !replicas.isLeader);
      server.server.thaw();
      await until(() => replicas.isMember && replicas.isLeader);
    });
  });

  test.each([
    ['list', 'servicetokens'],
    ['watch', 'servicetasks'],
  ])('a role that may not %s %s is reported by name', async (verb, resource) => {
    const cluster = await RealStoreCluster.open(server);
    await cluster.forbid(server, verb, resource);
    const result = await cluster
      .connect()
      .open()
      .catch((error: unknown) => error);
    await cluster.close();
    expect(result).toMatchObject({
      code: 'BACKEND_FORBIDDEN',
      message: expect.stringContaining(resource),
    });
  });
});

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 20));
}

const kubectl = findPeer('kubectl');
const describeManifests = RealApiServer.isInstalled && kubectl !== undefined ? describe : describe.skip;

describeManifests('the manifests, applied with kubectl to a real API server (node tools/peers/install.mjs)', () => {
  let server: RealApiServer;
  let folder: string;
  beforeAll(async () => {
    server = await RealApiServer.start();
    folder = await mkdtemp(join(tmpdir(), 'headgate-manifests-'));
    await writeFile(join(folder, 'kubeconfig'), server.kubeconfig());
  }, START_TIMEOUT_MS);
  afterAll(async () => {
    await server.close();
    await rm(folder, { recursive: true });
  });

  const apply = (path: string, ...options: string[]): Promise<{ stdout: string; stderr: string }> =>
    promisify(execFile)(
      kubectl!,
      [
        'apply',
        '--kubeconfig',
        join(folder, 'kubeconfig'),
        '-k',
        join(import.meta.dirname, '../../../../deploy', path),
        ...options,
      ],
      { env: { ...process.env, HOME: folder } },
    );

  test.each([['kustomize'], ['replicas'], ['homeserver-limits/kustomize']])(
    'deploy/%s is valid, without a warning, and does not change when it is applied again',
    async (path) => {
      const first = await apply(path, '--server-side', '--validate=strict');
      expect(first).toMatchObject({ stderr: '', stdout: expect.stringContaining('serverside-applied') });
      const again = await apply(path, '--server-side', '--validate=strict');
      expect(again).toEqual(first);
    },
  );
});
