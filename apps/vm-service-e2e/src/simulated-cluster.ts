import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { KubeSandbox, type KubeObject, type KubeSandboxOptions } from '@headgate/kube-sandbox';
import { KubevirtSimulation, type SimulationOptions } from '@headgate/kubevirt-sandbox';
import { parse } from 'yaml';

export interface SimulatedClusterOptions {
  readonly sandbox?: KubeSandboxOptions;
  readonly simulation?: SimulationOptions;
  /** The user of the kubeconfig; the administrator by default. */
  readonly user?: string;
  /** Enforces RBAC with only the account and the rights of deploy/kustomize. */
  readonly deployed?: boolean;
}

const kustomize = join(import.meta.dirname, '../../../deploy/kustomize');
const read = <T>(file: string): T => parse(readFileSync(join(kustomize, file), 'utf8')) as T;

/** The namespace, the account and the rights that `kubectl apply -k deploy/kustomize` creates. */
function deployment(): { objects: KubeObject[]; namespace: string; account: string } {
  const { namespace } = read<{ namespace: string }>('kustomization.yaml');
  const account = read<KubeObject>('service-account.yaml');
  const rights = ['namespace.yaml', 'cluster-role.yaml', 'cluster-role-binding.yaml'].map((file) =>
    read<KubeObject>(file),
  );
  return {
    objects: [...rights, { ...account, metadata: { ...account.metadata, namespace } }],
    namespace,
    account: account.metadata.name ?? '',
  };
}

/** The kinds whose objects may belong to a VM or a container. */
const OWNABLE = [
  'virtualmachines.kubevirt.io',
  'virtualmachineinstances.kubevirt.io',
  'datavolumes.cdi.kubevirt.io',
  'persistentvolumeclaims',
  'pods',
  'secrets',
  'services',
];

/**
 * A cluster in the process of the test, whose guests start immediately. The service reaches it over HTTP like any
 * other.
 */
export class SimulatedCluster {
  private constructor(
    readonly context: string,
    readonly sandbox: KubeSandbox,
    readonly simulation: KubevirtSimulation,
    private readonly kubeconfig: string,
  ) {}

  static async start(context: string, options: SimulatedClusterOptions = {}): Promise<SimulatedCluster> {
    const { deployed = false, user } = options;
    const simulation = new KubevirtSimulation({ timeScale: 0, ...options.simulation });
    const sandbox = await KubeSandbox.listen({ rbac: deployed, ...options.sandbox, extensions: [simulation] });
    if (!deployed) return new SimulatedCluster(context, sandbox, simulation, sandbox.kubeconfig(user));
    const { objects, namespace, account } = deployment();
    sandbox.store.load(objects);
    const kubeconfig = sandbox.kubeconfigFor(namespace, account);
    return new SimulatedCluster(context, sandbox, simulation, kubeconfig);
  }

  /**
   * The requests since the last call, without those of timers: probes of a silent server, and samples of resource
   * usage.
   */
  takeRequests(): Record<string, number> {
    const isOfTimer = (name: string): boolean => name === 'get /version' || name.endsWith('.metrics.k8s.io');
    const requests = Object.entries(this.sandbox.requests.summary()).filter(([name]) => !isOfTimer(name));
    this.sandbox.requests.reset();
    return Object.fromEntries(requests);
  }

  /** The objects of a namespace that may belong to an instance: `kind/name/uid`. */
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

  /** Writes a configuration of the service for several clusters, with an empty catalog. @returns its path */
  static configure(folder: string, clusters: readonly SimulatedCluster[]): string {
    const contexts = clusters.map(({ context, kubeconfig }) => {
      const file = join(folder, `${context}.kubeconfig`);
      writeFileSync(file, kubeconfig, { mode: 0o600 });
      return { name: context, kind: 'kubevirt', kubeconfig: file };
    });
    const file = join(folder, 'headgate.yaml');
    // JSON is YAML, too.
    const catalogFile = join(folder, 'catalog.json');
    writeFileSync(catalogFile, JSON.stringify({ version: 1, images: [] }));
    writeFileSync(file, JSON.stringify({ contexts, catalogFile }));
    return file;
  }
}
