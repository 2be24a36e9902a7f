import { DomainError, type InstanceRef } from '@headgate/domain-contracts';
import { instanceNotFound } from '../api/kube-api-error.js';
import type { KubeApi } from '../api/kube-api.js';
import type { PodObject } from '../api/object-types.js';
import { CLAIMS, pathOf, PODS } from '../api/resources.js';
import { CONTAINER, PERSISTENT_ROOT } from '../containers/container-manifest.js';
import { containerSelector } from '../labels.js';

/** Where programs run in a container. */
export interface ExecTarget {
  /** The address of `pods/exec`. */
  readonly path: string;
  /** The beginning of each command: the root of a privileged container is on its volume. */
  readonly prefix: readonly string[];
}

/** @throws DomainError INSTANCE_NOT_FOUND, WRONG_STATE for a container that does not run */
export async function execTargetOf(api: Pick<KubeApi, 'list'>, ref: InstanceRef): Promise<ExecTarget> {
  const { namespace } = ref;
  const selection = { namespace, labelSelector: containerSelector(ref.name) };
  const [pod] = await api.list<PodObject>(PODS, selection);
  if (pod?.status?.phase !== 'Running') {
    if (!pod && (await api.list(CLAIMS, selection)).length === 0) throw instanceNotFound(ref);
    throw notRunning(ref);
  }
  const main = pod.spec?.containers?.find(({ name }) => name === CONTAINER);
  return {
    path: pathOf(PODS, { namespace, name: pod.metadata.name, subresource: 'exec' }),
    prefix: main?.securityContext?.privileged ? ['chroot', PERSISTENT_ROOT] : [],
  };
}

export const notRunning = ({ name }: InstanceRef, cause?: unknown): DomainError =>
  new DomainError('WRONG_STATE', `The container ${name} is not running. Start it first.`, { cause });
