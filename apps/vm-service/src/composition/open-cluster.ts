import { readFileSync } from 'node:fs';
import type { DiskBuildOptions, KubeconfigSource } from '@headgate/kube-adapter';
import { messageOf } from '@headgate/domain-contracts';
import { ConfigError, type DiskBuildsSection } from '../config/service-config.js';
import type { BackendDeps, OpenedBackend } from './backend-factory.js';

/**
 * A real cluster, by kubeconfig or by the service account of the pod that this process runs in. The Kubernetes client is loaded
 * only here, so that a service without a cluster starts faster and stays smaller.
 */
export async function openCluster({ section, clock, log, mayWrite }: BackendDeps): Promise<OpenedBackend> {
  const { KubeBackend } = await import('@headgate/kube-adapter');
  const kubeconfig: KubeconfigSource =
    section.kubeconfig === undefined ? { default: true } : { file: section.kubeconfig };
  const backend = KubeBackend.open({
    context: section.name,
    kubeconfig,
    kubeContext: section.kubeContext,
    uploadProxy: { url: section.uploadProxy, ca: readCa(section.uploadProxyCa) },
    diskBuilds: section.diskBuilds && diskBuildsOf(section.diskBuilds),
    clock,
    log,
    mayWrite,
  });
  return { backend };
}

const diskBuildsOf = ({ timeoutMinutes, ...options }: DiskBuildsSection): DiskBuildOptions => ({
  ...options,
  ...(timeoutMinutes === undefined ? {} : { timeoutMs: timeoutMinutes * 60_000 }),
});

/** @throws ConfigError */
function readCa(file: string | undefined): string | undefined {
  if (file === undefined) return undefined;
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new ConfigError(file, [`uploadProxyCa can't be read (${messageOf(error)})`]);
  }
}
