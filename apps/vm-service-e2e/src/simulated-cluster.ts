import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  KubeSandbox,
  KubevirtSimulation,
  type KubeObject,
  type KubeSandboxOptions,
  type SimulationOptions,
} from '@headgate/kube-sandbox';

export interface SimulatedClusterOptions {
  readonly sandbox?: KubeSandboxOptions;
  readonly simulation?: SimulationOptions;
  /** The user of the kubeconfig; absent: the administrator. */
  readonly user?: string;
}

/** Every kind of which something may belong to a VM or to a container. */
const OWNABLE = [
  'virtualmachines.kubevirt.io',
  'virtualmachineinstances.kubevirt.io',
  'datavolumes.cdi.kubevirt.io',
  'persistentvolumeclaims',
  'pods',
  'secrets',
  'services',
];

/** A cluster in the test's own process, whose guests start at once. The service reaches it over HTTP, as any other. */
export class SimulatedCluster {
  private constructor(
    readonly context: string,
    readonly sandbox: KubeSandbox,
    readonly simulation: KubevirtSimulation,
    private readonly user: string | undefined,
  ) {}

  static async start(context: string, options: SimulatedClusterOptions = {}): Promise<SimulatedCluster> {
    const simulation = new KubevirtSimulation({ timeScale: 0, ...options.simulation });
    const sandbox = await KubeSandbox.listen({ ...options.sandbox, extensions: [simulation] });
    return new SimulatedCluster(context, sandbox, simulation, options.user);
  }

  /** What clients have asked since the last time, but for the version: a silent server is asked for it again and again. */
  takeRequests(): Record<string, number> {
    const { 'get /version': _probes, ...requests } = this.sandbox.requests.summary();
    this.sandbox.requests.reset();
    return requests;
  }

  /** The objects of a namespace that may belong to somebody: `kind/name/uid`. */
  objects(namespace: string): string[] {
    return OWNABLE.flatMap((resource) => this.sandbox.store.list<KubeObject>(resource, { namespace }))
      .map(({ kind, metadata }) => `${kind}/${metadata.name}/${metadata.uid}`)
      .sort();
  }

  vmNames(): string[] {
    return this.sandbox.store
      .list<KubeObject>('virtualmachines.kubevirt.io')
      .map(({ metadata }) => metadata.name ?? '')
      .sort();
  }

  close(): Promise<void> {
    return this.sandbox.close();
  }

  /** Writes the service's configuration for several clusters. @returns its file */
  static configure(folder: string, clusters: readonly SimulatedCluster[]): string {
    const contexts = clusters.map(({ context, sandbox, user }) => {
      const kubeconfig = join(folder, `${context}.kubeconfig`);
      writeFileSync(kubeconfig, sandbox.kubeconfig(user), { mode: 0o600 });
      return { name: context, kind: 'kubevirt', kubeconfig };
    });
    const file = join(folder, 'headgate.yaml');
    // JSON is YAML, too.
    writeFileSync(file, JSON.stringify({ contexts }));
    return file;
  }
}
