import { readFileSync } from 'node:fs';
import { messageOf, SettingError, type BackendKind } from '@headgate/domain-contracts';
import { addedKubevirt } from './added-kubevirt.js';
import type { DiskBuildOptions } from './builds/build-objects.js';
import { KubevirtSettings, type DiskBuildsSettings } from './kubevirt-settings.js';
import { KUBEVIRT_TRAITS } from './kubevirt-traits.js';

export type { KubevirtSettings };

/** A real cluster, by kubeconfig or by the service account of the pod that this process runs in. */
export const kubevirtKind: BackendKind<KubevirtSettings> = {
  traits: KUBEVIRT_TRAITS,
  settings: KubevirtSettings,
  open: async ({ context, settings, clock, log, mayWrite, takePicture }) => {
    const ca = readCa(settings.uploadProxyCa);
    // The Kubernetes client is loaded only here, so that a service without a cluster starts faster and stays smaller.
    const { KubeBackend } = await import('./kube-backend.js');
    const backend = KubeBackend.open({
      context,
      clock,
      log,
      mayWrite,
      takePicture,
      kubeconfig: settings.kubeconfig === undefined ? { default: true } : { file: settings.kubeconfig },
      kubeContext: settings.kubeContext,
      uploadProxy: { url: settings.uploadProxy, ca },
      handlerMetrics: settings.metrics?.handlers,
      nodeScheduling: settings.nodeScheduling,
      proofNamespace: settings.proofNamespace,
      diskBuilds: settings.diskBuilds && diskBuildsOf(settings.diskBuilds),
    });
    return { backend };
  },
  describe: ({ kubeconfig, kubeContext }) => ({
    ...(kubeconfig !== undefined && { kubeconfig }),
    ...(kubeContext !== undefined && { kubeContext }),
  }),
  added: addedKubevirt,
  discover: async () => (await import('./discovery/discover-cluster.js')).discoverCluster(),
};

const diskBuildsOf = ({ timeoutMinutes, ...options }: DiskBuildsSettings): DiskBuildOptions => ({
  ...options,
  ...(timeoutMinutes === undefined ? {} : { timeoutMs: timeoutMinutes * 60_000 }),
});

/** @throws SettingError */
function readCa(file: string | undefined): string | undefined {
  if (file === undefined) return undefined;
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new SettingError(file, `uploadProxyCa can't be read (${messageOf(error)})`, { cause: error });
  }
}
