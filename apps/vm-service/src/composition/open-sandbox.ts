import type { BackendDeps, OpenedBackend } from './backend-factory.js';

/** Instances of a simulated cluster when the configuration gives no number. */
export const DEFAULT_SANDBOX_INSTANCES = 40;

/** A simulated cluster in this process, reached over the real wire protocol. */
export async function openSandbox({ section, clock, log }: BackendDeps): Promise<OpenedBackend> {
  const [kubeAdapter, { KubeSandbox }, { KubevirtSimulation }, { sandboxFleet }] = await Promise.all([
    import('@headgate/kube-adapter'),
    import('@headgate/kube-sandbox'),
    import('@headgate/kubevirt-sandbox'),
    import('./sandbox-fleet.js'),
  ]);
  const simulation = new KubevirtSimulation();
  const sandbox = await KubeSandbox.listen({ extensions: [simulation] });
  simulation.seedFleet(section.instances ?? DEFAULT_SANDBOX_INSTANCES, sandboxFleet(kubeAdapter));
  const backend = kubeAdapter.KubeBackend.open({
    context: section.name,
    kubeconfig: { text: sandbox.kubeconfig() },
    diskBuilds: { images: ['*'] },
    clock,
    log,
  });
  return { backend, isSimulated: true, close: () => sandbox.close() };
}
