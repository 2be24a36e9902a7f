import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { KubeSandbox } from '@headgate/kube-sandbox';
import { KubevirtSimulation, type SimulationOptions } from '@headgate/kubevirt-sandbox';
import { openSuiteCluster, type SuiteCluster } from '../suite-cluster.js';
import type { SuiteSettings } from '../suite-settings.js';

const VENDOR = { nodes: [{ name: 'rack-7.corp.example' }, { name: 'rack-8.corp.example' }] };

/** A simulated cluster that is reached through a kubeconfig file, as a real one. */
export class SuiteSandbox {
  private readonly clusters: SuiteCluster[] = [];

  private constructor(
    readonly sandbox: KubeSandbox,
    readonly folder: string,
    readonly kubeconfig: string,
  ) {}

  static async open(simulation: SimulationOptions = {}): Promise<SuiteSandbox> {
    const simulated = new KubevirtSimulation({ timeScale: 0, cluster: VENDOR, ...simulation });
    const sandbox = await KubeSandbox.listen({ extensions: [simulated] });
    const folder = await mkdtemp(join(tmpdir(), 'hgtest-cluster-suite-'));
    const kubeconfig = join(folder, 'kubeconfig');
    await writeFile(kubeconfig, sandbox.kubeconfig(), { mode: 0o600 });
    return new SuiteSandbox(sandbox, folder, kubeconfig);
  }

  settings(settings: Partial<SuiteSettings> = {}): SuiteSettings {
    return { kubeconfig: this.kubeconfig, namespace: 'suite', ...settings };
  }

  cluster(settings?: Partial<SuiteSettings>): SuiteCluster {
    const cluster = openSuiteCluster(this.settings(settings));
    this.clusters.push(cluster);
    return cluster;
  }

  /** `kind namespace/name` of everything in the cluster whose kind matters to a person. */
  contents(): string[] {
    const kinds = ['namespaces', 'network-attachment-definitions.k8s.cni.cncf.io', 'virtualmachines.kubevirt.io'];
    const all = [...kinds, 'persistentvolumeclaims', 'datavolumes.cdi.kubevirt.io', 'pods', 'secrets'];
    return all
      .filter((kind) => this.sandbox.registry.find(kind))
      .flatMap((kind) =>
        this.sandbox.store
          .list(kind)
          .map(({ metadata: { namespace = '', name, uid } }) => `${kind} ${namespace}/${name} ${uid}`),
      );
  }

  async close(): Promise<void> {
    for (const cluster of this.clusters) cluster.close();
    await this.sandbox.close();
    await rm(this.folder, { recursive: true });
  }
}
