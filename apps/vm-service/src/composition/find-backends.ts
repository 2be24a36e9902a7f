import { access, constants } from 'node:fs/promises';
import { SystemClock } from '@headgate/domain-contracts';
import type { KubevirtSettings } from '@headgate/kube-adapter/kind';
import type { ContextSection } from '../config/context-section.js';
import type { RegisteredKind } from '../engines/backend-kinds.js';

const CLUSTER_KIND: RegisteredKind = 'kubevirt';
const HOST_KIND: RegisteredKind = 'libvirt';
/** How long a cluster may take to answer before the next engine is tried. */
const CLUSTER_TIMEOUT_MS = 3000;
/** The sockets of the monolithic daemon and of the modular daemon for QEMU. */
const LIBVIRT_SOCKETS = ['/run/libvirt/libvirt-sock', '/run/libvirt/virtqemud-sock'];

/** The current context of the kubeconfig, when its cluster answers. Reads only the version of the cluster. */
export async function findCluster(): Promise<ContextSection | undefined> {
  const { isClusterReachable, readKubeconfigContexts } = await import('@headgate/kube-adapter');
  const contexts = await readKubeconfigContexts();
  const current = contexts.find((context) => context.current);
  if (!current) return undefined;
  const isReachable = await isClusterReachable({
    kubeconfig: { default: true },
    kubeContext: current.name,
    clock: new SystemClock(),
    timeoutMs: CLUSTER_TIMEOUT_MS,
  });
  const settings: KubevirtSettings = { kubeContext: current.name };
  return isReachable ? { name: current.name, kind: CLUSTER_KIND, settings } : undefined;
}

/** This machine's libvirt, when its socket is writable. */
export async function findLibvirt(): Promise<ContextSection | undefined> {
  const results = await Promise.allSettled(LIBVIRT_SOCKETS.map((socket) => access(socket, constants.W_OK)));
  const isHere = results.some(({ status }) => status === 'fulfilled');
  return isHere ? { name: 'local', kind: HOST_KIND } : undefined;
}
