import { messageOf } from '@headgate/domain-contracts';
import type { KubeConfig } from '@kubernetes/client-node';

/** Where a kubeconfig comes from. */
export type KubeconfigSource =
  | { readonly file: string }
  | { readonly text: string }
  /** The service account of the pod that this process runs in. */
  | { readonly inCluster: true }
  /** `KUBECONFIG`, then `~/.kube/config`, then the service account, as in kubectl. */
  | { readonly default: true };

export interface KubeconfigContext {
  readonly name: string;
  readonly current: boolean;
  readonly server: string;
}

/**
 * The contexts in a kubeconfig, for a service that is started without configuration.
 * @returns an empty array when there is no kubeconfig, or it can't be read
 */
export async function readKubeconfigContexts(
  source: KubeconfigSource = { default: true },
): Promise<KubeconfigContext[]> {
  try {
    const config = await loadKubeConfig(source);
    return config.getContexts().flatMap(({ name, cluster }) => {
      const server = config.getCluster(cluster)?.server;
      // The library's placeholder when there is no kubeconfig at all.
      if (!server || name === 'loaded-context') return [];
      return [{ name, current: name === config.getCurrentContext(), server }];
    });
  } catch {
    return [];
  }
}

/** @throws Error with a readable message when the kubeconfig can't be read or has no such context */
export async function loadKubeConfig(source: KubeconfigSource, kubeContext?: string): Promise<KubeConfig> {
  // Loaded only when a cluster is used: loading the library takes a good part of a second.
  const { KubeConfig } = await import('@kubernetes/client-node');
  const config = new KubeConfig();
  try {
    if ('file' in source) config.loadFromFile(source.file);
    else if ('text' in source) config.loadFromString(source.text);
    else if ('inCluster' in source) config.loadFromCluster();
    else config.loadFromDefault();
  } catch (error) {
    throw new Error(`${'file' in source ? `the file ${source.file}` : 'it'} can't be read (${messageOf(error)})`, {
      cause: error,
    });
  }
  if (kubeContext !== undefined) {
    if (!config.getContextObject(kubeContext)) throw new Error(`it has no context named "${kubeContext}"`);
    config.setCurrentContext(kubeContext);
  }
  return config;
}
