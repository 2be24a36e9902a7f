import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { KubeSandbox } from '@headgate/kube-sandbox';
import { parse } from 'yaml';

const LEASE_SECONDS = 2;
const INSTANCES = 30;
const POLL_MS = 40;
/** Generous, because machines that run the tests may be slow; nothing waits this long unless it fails. */
const PATIENCE_MS = 120_000;
const APP = join(import.meta.dirname, '../../..');
const CRDS = join(APP, '../../deploy/vm-service/crds');
const TAG = 'svc.dev/tag.';

const env = { ...process.env, NODE_OPTIONS: '' };

/** One process of the service. */
export class Replica {
  private child: ChildProcess | undefined;
  private url = '';
  ready: Promise<void> = Promise.resolve();

  constructor(private readonly args: readonly string[]) {}

  start(): void {
    const child = spawn(process.execPath, [...this.args], { env, stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
    this.child = child;
    this.ready = new Promise((resolve, reject) => {
      child.once('message', ({ url }: { url: string }) => {
        this.url = url;
        resolve();
      });
      child.once('exit', (code, signal) => reject(new Error(`a replica ended with ${code ?? signal}`)));
    });
    // Only those that wait for it need to know that it was killed before it was ready.
    this.ready.catch(() => undefined);
  }

  async kill(): Promise<void> {
    const { child } = this;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  }

  startTask(round: number): void {
    this.child?.send({ round }, () => undefined);
  }

  async get<T>(path: string): Promise<T> {
    return (await (await fetch(`${this.url}${path}`)).json()) as T;
  }

  /** A request of a client, with an API token if it has one. */
  async request(method: string, path: string, { body, token }: { body?: object; token?: string } = {}) {
    const response = await fetch(`${this.url}${path}`, {
      method,
      headers: {
        ...(body && { 'content-type': 'application/json' }),
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
      },
      body: body && JSON.stringify(body),
    });
    return { status: response.status, json: (await response.json()) as Record<string, unknown> };
  }

  /** Sends a request again and again. @returns the milliseconds until its response had that status */
  async timeUntilStatus(expected: number, path: string, token: string): Promise<number> {
    const startedAt = performance.now();
    let status = 0;
    while (status !== expected) {
      if (performance.now() - startedAt > PATIENCE_MS)
        throw new Error(`a replica answers ${path} with ${status} instead of ${expected}`);
      ({ status } = await this.request('GET', path, { token }));
    }
    return performance.now() - startedAt;
  }

  /** A request whose replica may be killed. @returns the status; 0 without a response */
  async send(method: string, path: string, body: object): Promise<number> {
    const headers = { 'content-type': 'application/json' };
    return fetch(`${this.url}${path}`, { method, headers, body: JSON.stringify(body) }).then(
      ({ status }) => status,
      () => 0,
    );
  }
}

/** Several replicas over one simulated cluster. */
export class ReplicaWorld {
  /** How often each VM was tagged in this round, by `name tag`. */
  readonly tagged = new Map<string, number>();
  round = 0;

  private constructor(
    private readonly folder: string,
    readonly sandbox: KubeSandbox,
    readonly replicas: readonly Replica[],
  ) {}

  /** @param storeKubeconfig of the cluster with the store; by default, the simulated one has it */
  static async open(count: number, storeKubeconfig?: string): Promise<ReplicaWorld> {
    const folder = mkdtempSync(join(tmpdir(), 'headgate-replicas-'));
    // A bundle, because the process that is killed must be plain Node.
    const vite = createRequire(import.meta.url)
      .resolve('vite/package.json')
      .replace('package.json', 'bin/vite.js');
    const entry = join(import.meta.dirname, 'replica-process.ts');
    const build = [
      'build',
      '--config',
      join(import.meta.dirname, 'vite.config.js'),
      '--ssr',
      entry,
      '--outDir',
      folder,
    ];
    await promisify(execFile)(process.execPath, [vite, ...build], { cwd: APP, env });
    const [{ KubeSandbox }, { KubevirtSimulation }] = await Promise.all([
      import('@headgate/kube-sandbox'),
      import('@headgate/kubevirt-sandbox'),
    ]);
    const simulation = new KubevirtSimulation({ timeScale: 0 });
    const sandbox = await KubeSandbox.listen({ namespaces: ['headgate'], extensions: [simulation] });
    simulation.seedFleet(INSTANCES);
    const { resources } = parse(readFileSync(join(CRDS, 'kustomization.yaml'), 'utf8')) as { resources: string[] };
    for (const file of resources) await install(sandbox.url, join(CRDS, file));
    const kubeconfig = join(folder, 'kubeconfig');
    writeFileSync(kubeconfig, sandbox.kubeconfig());
    const store = join(folder, 'store-kubeconfig');
    writeFileSync(store, storeKubeconfig ?? sandbox.kubeconfig());
    const config = join(folder, 'headgate.yaml');
    writeFileSync(
      config,
      JSON.stringify({
        contexts: [{ name: 'lab', kind: 'kubevirt', kubeconfig }],
        store: { kind: 'cluster', namespace: 'headgate', kubeconfig: store },
      }),
    );
    const script = join(folder, 'replica-process.js');
    const replicas = Array.from(
      { length: count },
      (_none, index) => new Replica([script, config, join(folder, `data-${index}`), sandbox.url, `${LEASE_SECONDS}`]),
    );
    const world = new ReplicaWorld(folder, sandbox, replicas);
    world.countTags();
    for (const replica of replicas) replica.start();
    await Promise.all(replicas.map(({ ready }) => ready));
    return world;
  }

  async close(): Promise<void> {
    await Promise.all(this.replicas.map((replica) => replica.kill()));
    await this.sandbox.close();
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

async function install(url: string, file: string): Promise<void> {
  const response = await fetch(`${url}/apis/apiextensions.k8s.io/v1/customresourcedefinitions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(parse(readFileSync(file, 'utf8'))),
  });
  if (response.status !== 201) throw new Error(await response.text());
}

async function until(holds: () => boolean | Promise<boolean>, explain = () => 'it did not happen'): Promise<void> {
  const end = Date.now() + PATIENCE_MS;
  while (!(await holds())) {
    if (Date.now() > end) throw new Error(explain());
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}
