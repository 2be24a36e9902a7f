import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { KubeSandbox, SandboxClock } from '@headgate/kube-sandbox';
import type { KubevirtSimulation, SimulationOptions } from '@headgate/kubevirt-sandbox';
import { parse } from 'yaml';
import { PLAIN_ENV, Replica } from './replica.js';
import { until } from './until.js';

const LEASE_SECONDS = 2;
const APP = join(import.meta.dirname, '../../..');
const CRDS = join(APP, '../../deploy/vm-service/crds');
const TAG = 'svc.dev/tag.';

export interface ReplicaWorldOptions {
  readonly count: number;
  /** The program of each replica, a file of this folder without its extension. */
  readonly program: 'replica-process' | 'service-process';
  readonly simulation: SimulationOptions;
  /** Simulated clusters; the first one has the store. */
  readonly contexts?: readonly string[];
  /** Of the clusters; by default the system's. */
  readonly clock?: SandboxClock;
  /** VMs that the cluster has. */
  readonly instances?: number;
  /** More of the configuration. */
  readonly config?: (write: (name: string, text: string) => string) => object;
  /** Of the cluster with the store; by default, the simulated one has it. */
  readonly storeKubeconfig?: string | undefined;
}

export interface SimulatedCluster {
  readonly context: string;
  readonly sandbox: KubeSandbox;
  readonly simulation: KubevirtSimulation;
}

/** Several replicas over simulated clusters. */
export class ReplicaWorld {
  /** How often each VM was tagged in this round, by `name tag`. */
  readonly tagged = new Map<string, number>();
  round = 0;

  private constructor(
    private readonly folder: string,
    /** At least one. */
    readonly clusters: readonly SimulatedCluster[],
    readonly replicas: readonly Replica[],
  ) {}

  static async open(options: ReplicaWorldOptions): Promise<ReplicaWorld> {
    const { count, program, contexts = ['lab'], instances = 0, storeKubeconfig } = options;
    const folder = mkdtempSync(join(tmpdir(), 'headgate-replicas-'));
    const write = (name: string, text: string): string => {
      writeFileSync(join(folder, name), text);
      return join(folder, name);
    };
    await build(program, folder);
    const clusters: SimulatedCluster[] = [];
    for (const context of contexts) clusters.push(await openCluster(context, options));
    const [{ sandbox, simulation }] = clusters as [SimulatedCluster];
    simulation.seedFleet(instances);
    const { resources } = parse(readFileSync(join(CRDS, 'kustomization.yaml'), 'utf8')) as { resources: string[] };
    for (const file of resources) await install(sandbox.url, join(CRDS, file));
    const store = write('store-kubeconfig', storeKubeconfig ?? sandbox.kubeconfig());
    const config = write(
      'headgate.yaml',
      JSON.stringify({
        contexts: clusters.map(({ context: name, sandbox: one }) => ({
          name,
          kind: 'kubevirt',
          kubeconfig: write(`kubeconfig-${name}`, one.kubeconfig()),
        })),
        store: { kind: 'cluster', namespace: 'headgate', kubeconfig: store },
        ...options.config?.(write),
      }),
    );
    const common = { config, apiServer: sandbox.url, leaseSeconds: LEASE_SECONDS };
    const script = join(folder, `${program}.js`);
    const replicas = Array.from(
      { length: count },
      (_none, index) => new Replica(script, { ...common, dataDir: join(folder, `data-${index}`) }),
    );
    const world = new ReplicaWorld(folder, clusters, replicas);
    world.countTags();
    for (const replica of replicas) replica.start();
    try {
      await Promise.all(replicas.map(({ ready }) => ready));
    } catch (error) {
      await world.close();
      throw error;
    }
    return world;
  }

  /** The API server of the cluster with the store. */
  get sandbox(): KubeSandbox {
    return this.clusters[0]!.sandbox;
  }

  async close(): Promise<void> {
    await Promise.all(this.replicas.map((replica) => replica.kill()));
    for (const { sandbox } of this.clusters) await sandbox.close();
    rmSync(this.folder, { recursive: true });
  }

  /** How many objects each step of each task has created, by `task step`. */
  effects(): Map<string, number> {
    const counts = new Map<string, number>();
    for (const { metadata } of this.sandbox.store.list('configmaps')) {
      const { task, step } = metadata.labels ?? {};
      if (task !== undefined) counts.set(`${task} ${step}`, (counts.get(`${task} ${step}`) ?? 0) + 1);
    }
    return counts;
  }

  /** Waits until the cluster has received that many requests. */
  async untilRequests(count: number): Promise<void> {
    await until(() => this.sandbox.requests.count() >= count);
  }

  /** What all replicas show, once they show the same and it is accepted. */
  async agree<T>(path: string, accept: (value: T) => boolean): Promise<T> {
    let latest: T[] = [];
    await until(
      async () => {
        latest = await Promise.all(this.replicas.map((replica) => replica.get<T>(path)));
        const [first, ...others] = latest.map((value) => JSON.stringify(value));
        return others.every((text) => text === first) && latest.every(accept);
      },
      () => `round ${this.round}: the replicas do not agree about ${path}: ${JSON.stringify(latest)}`,
    );
    return latest[0] as T;
  }

  /** Waits until a request gets the same status from every replica. */
  async untilStatus(expected: number, path: string, token: string): Promise<void> {
    let statuses: number[] = [];
    await until(
      async () => {
        const replies = await Promise.all(this.replicas.map((replica) => replica.request('GET', path, { token })));
        statuses = replies.map(({ status }) => status);
        return statuses.every((status) => status === expected);
      },
      () => `the replicas answer ${path} with ${statuses.join(', ')} instead of ${expected}`,
    );
  }

  /** Each request of a service that sets the tag of the current round counts, also one that changes nothing. */
  private countTags(): void {
    this.sandbox.admission.addValidating({
      name: 'count.svc.dev',
      resources: ['virtualmachines.kubevirt.io'],
      operations: ['UPDATE'],
      admit: ({ object }) => {
        const { name = '', labels = {} } = object?.metadata ?? {};
        const key = `${name} r${this.round}`;
        if (`${TAG}r${this.round}` in labels) this.tagged.set(key, (this.tagged.get(key) ?? 0) + 1);
      },
    });
  }
}

async function openCluster(context: string, options: ReplicaWorldOptions): Promise<SimulatedCluster> {
  const [{ KubeSandbox }, { KubevirtSimulation }] = await Promise.all([
    import('@headgate/kube-sandbox'),
    import('@headgate/kubevirt-sandbox'),
  ]);
  const simulation = new KubevirtSimulation(options.simulation);
  const { clock } = options;
  const namespaces = ['headgate'];
  const sandbox = await KubeSandbox.listen({ namespaces, extensions: [simulation], ...(clock && { clock }) });
  return { context, sandbox, simulation };
}

/** A bundle, because the process that is killed must be plain Node. */
async function build(program: string, folder: string): Promise<void> {
  const vite = createRequire(import.meta.url)
    .resolve('vite/package.json')
    .replace('package.json', 'bin/vite.js');
  const entry = join(import.meta.dirname, `${program}.ts`);
  const args = ['--config', join(import.meta.dirname, 'vite.config.js'), '--ssr', entry, '--outDir', folder];
  await promisify(execFile)(process.execPath, [vite, 'build', ...args], { cwd: APP, env: PLAIN_ENV });
}

async function install(url: string, file: string): Promise<void> {
  const response = await fetch(`${url}/apis/apiextensions.k8s.io/v1/customresourcedefinitions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(parse(readFileSync(file, 'utf8'))),
  });
  if (response.status !== 201) throw new Error(await response.text());
}
