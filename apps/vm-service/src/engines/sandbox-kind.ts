import type { BackendKind, FolderAssignment } from '@headgate/domain-contracts';
import { kubevirtKind } from '@headgate/kube-adapter/kind';
import type { SandboxGuest } from './sandbox-usage.js';
import { SandboxSettings } from './sandbox-settings.js';

/** Instances of a simulated cluster when the configuration gives no number. */
const DEFAULT_INSTANCES = 40;

/** A simulated cluster in this process, reached over the real wire protocol. */
export const sandboxKind: BackendKind<SandboxSettings> = {
  traits: kubevirtKind.traits,
  settings: SandboxSettings,
  open: async ({ context, settings, clock, log, takePicture }) => {
    const [conventions, { KubeSandbox }, seeds, { sandboxFleet }, { sandboxJournal }, { SandboxUsage }] =
      await Promise.all([
        import('@headgate/kube-adapter'),
        import('@headgate/kube-sandbox'),
        import('@headgate/kubevirt-sandbox'),
        import('./sandbox-fleet.js'),
        import('./sandbox-journal.js'),
        import('./sandbox-usage.js'),
      ]);
    const simulation = new seeds.KubevirtSimulation({ cluster: { nodes: [...seeds.CONTROL_PLANE] } });
    const sandbox = await KubeSandbox.listen({ extensions: [simulation] });
    const folders: FolderAssignment[] = [];
    const guests = new Map<string, SandboxGuest>();
    const fleet = sandboxFleet({ conventions, seeds, context, folders, guests });
    simulation.seedFleet(settings.instances ?? DEFAULT_INSTANCES, fleet);
    const backend = conventions.KubeBackend.open({
      context,
      kubeconfig: { text: sandbox.kubeconfig() },
      diskBuilds: { images: ['*'] },
      handlerMetrics: true,
      nodeScheduling: true,
      takePicture,
      clock,
      log,
    });
    const past = sandboxJournal({ refs: folders.map(({ ref }) => ref), now: clock.now(), choose: seeds.seededNumber });
    const pastUsage = new SandboxUsage({
      guests,
      until: clock.now(),
      choose: seeds.seededNumber,
      meanOf: ({ kind, namespace, name }) =>
        kind === 'vm' ? seeds.meanVmUsage(namespace, name) : seeds.meanContainerUsage(namespace, name),
    });
    return { backend, isSimulated: true, folders, past, pastUsage, close: () => sandbox.close() };
  },
};
