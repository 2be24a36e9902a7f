import type { Backend, Clock, Log } from '@headgate/domain-contracts';
import type { KubeconfigSource } from '@headgate/kube-adapter';

// The Kubernetes client and the simulated cluster are loaded only where one is served: a service of one machine starts
// quicker and stays smaller without them.

export interface ClusterChoice {
  readonly name: string;
  readonly kubeconfig?: string;
  readonly kubeContext?: string;
}

/** A real cluster, by kubeconfig or by the service account of the pod that this process runs in. */
export async function openCluster(choice: ClusterChoice, clock: Clock, log: Log): Promise<Backend> {
  const { KubeBackend } = await import('@headgate/kube-adapter');
  return KubeBackend.open({
    context: choice.name,
    kubeconfig: sourceOf(choice.kubeconfig),
    kubeContext: choice.kubeContext,
    clock,
    log,
  });
}

const sourceOf = (file: string | undefined): KubeconfigSource => (file === undefined ? { default: true } : { file });

export interface SandboxBackend {
  readonly backend: Backend;
  close(): Promise<void>;
}

/** A simulated cluster in this process, spoken to over its real wire protocol. */
export async function openSandbox(name: string, instances: number, clock: Clock, log: Log): Promise<SandboxBackend> {
  const [kubeAdapter, { KubeSandbox }, { KubevirtSimulation }, { sandboxFleet }] = await Promise.all([
    import('@headgate/kube-adapter'),
    import('@headgate/kube-sandbox'),
    import('@headgate/kubevirt-sandbox'),
    import('./sandbox-fleet.js'),
  ]);
  const simulation = new KubevirtSimulation();
  const sandbox = await KubeSandbox.listen({ extensions: [simulation] });
  simulation.seedFleet(instances, sandboxFleet(kubeAdapter));
  const backend = kubeAdapter.KubeBackend.open({
    context: name,
    kubeconfig: { text: sandbox.kubeconfig() },
    clock,
    log,
  });
  return { backend, close: () => sandbox.close() };
}
