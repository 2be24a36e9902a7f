import type { BackendKind, FolderAssignment } from '@headgate/domain-contracts';
import { kubevirtKind } from '@headgate/kube-adapter/kind';
import { SandboxSettings } from './sandbox-settings.js';

/** Instances of a simulated cluster when the configuration gives no number. */
const DEFAULT_INSTANCES = 40;

/** A simulated cluster in this process, reached over the real wire protocol. */
export const sandboxKind: BackendKind<SandboxSettings> = {
  traits: kubevirtKind.traits,
  settings: SandboxSettings,
  open: async ({ context, settings, clock, log }) => {
    const [conventions, { KubeSandbox }, seeds, { sandboxFleet }, { sandboxJournal }] = await Promise.all([
      import('@headgate/kube-adapter'),
      import('@headgate/kube-sandbox'),
      import('@headgate/kubevirt-sandbox'),
      import('./sandbox-fleet.js'),
      import('./sandbox-journal.js'),
    ]);
    const simulation = new seeds.KubevirtSimulation({ cluster: { nodes: [...seeds.CONTROL_PLANE] } });
    const sandbox = await KubeSandbox.listen({ extensions: [simulation] });
    const folders: FolderAssignment[] = [];
    const fleet = sandboxFleet({ conventions, seeds, context, folders });
    simulation.seedFleet(settings.instances ?? DEFAULT_INSTANCES, fleet);
    const backend = conventions.KubeBackend.open({
      context,
      kubeconfig: { text: sandbox.kubeconfig() },
      diskBuilds: { images: ['*'] },
      handlerMetrics: true,
      nodeScheduling: true,
      clock,
      log,
    });
    const past = sandboxJournal({ refs: folders.map(({ ref }) => ref), now: clock.now(), choose: seeds.seededNumber });
    return { backend, isSimulated: true, folders, past, close: () => sandbox.close() };
  },
};
