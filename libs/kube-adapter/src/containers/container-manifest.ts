import { formatBytes, type ContainerSpec, type JsonObject } from '@headgate/domain-contracts';
import type { KubeObject } from '../api/kube-object.js';
import { ANNOTATION, LABEL } from '../labels.js';
import { writeRecordedSpec, type RecordedSpec } from './recorded-spec.js';

/** The container's name inside its pod. */
export const CONTAINER = 'main';
/** Where the data volume of an unprivileged container is. */
const DATA_PATH = '/data';
/** Where the data volume of a privileged container is, outside of the root that it changes into. */
const PERSIST_PATH = '/persist';
/** The root that a privileged container changes into. */
export const PERSISTENT_ROOT = `${PERSIST_PATH}/root`;

const GRACE_SECONDS = 10;

/**
 * Copies the image's files onto the volume, once. Entry by entry, because not every `cp` can stay on one file system.
 * A copy that was cut off is begun again: only a complete one gets its final name.
 */
const SEED = `set -eu
[ -e ${PERSISTENT_ROOT} ] && exit 0
rm -rf ${PERSIST_PATH}/seeding
mkdir -p ${PERSIST_PATH}/seeding
for entry in /* /.[!.]*; do
  case "$entry" in
    /proc|/sys|/dev|${PERSIST_PATH}|'/*'|'/.[!.]*') ;;
    *) cp -a "$entry" ${PERSIST_PATH}/seeding/ ;;
  esac
done
cd ${PERSIST_PATH}/seeding
mkdir -p proc sys dev tmp
sync
mv ${PERSIST_PATH}/seeding ${PERSISTENT_ROOT}`;

/** Makes the persistent root usable and stays in it, reaping what ends, until the pod is stopped. */
const ENTER = `set -eu
cd ${PERSISTENT_ROOT}
mount -t proc proc proc
mount -o rbind /sys sys
mount -o rbind /dev dev
for file in resolv.conf hosts hostname; do
  rm -f etc/$file
  cat /etc/$file > etc/$file
done
exec chroot ${PERSISTENT_ROOT} /bin/sh -c 'trap "exit 0" TERM INT; while :; do sleep 3600 & wait $!; done'`;

export const dataClaimName = (name: string): string => `${name}-ct-data`;

const labelsOf = (name: string): Readonly<Record<string, string>> => ({ [LABEL.kind]: 'ct', [LABEL.name]: name });

/** The data volume, which carries the spec so that the pod can be made again from it. */
export const dataClaim = (spec: ContainerSpec): KubeObject & { readonly spec: JsonObject } => ({
  metadata: {
    name: dataClaimName(spec.ref.name),
    namespace: spec.ref.namespace,
    labels: labelsOf(spec.ref.name),
    annotations: { [ANNOTATION.spec]: writeRecordedSpec(spec) },
  },
  spec: {
    accessModes: ['ReadWriteOnce'],
    resources: { requests: { storage: formatBytes(spec.diskBytes) } },
    ...(spec.storageClass === '' ? {} : { storageClassName: spec.storageClass }),
  },
});

/** The pod of a container. An image that only offers a shell stays up because it is given a terminal to wait on. */
export function containerPod(
  { namespace, name }: { readonly namespace: string; readonly name: string },
  claimName: string,
  spec: RecordedSpec,
): KubeObject & { readonly spec: JsonObject } {
  const { image, cpu, memoryBytes, privileged } = spec;
  const memory = formatBytes(memoryBytes);
  const resources = { requests: { cpu: String(cpu), memory }, limits: { cpu: String(cpu), memory } };
  const volumeMounts = [{ name: 'data', mountPath: privileged ? PERSIST_PATH : DATA_PATH }];
  const seeder = { name: 'seed', image, command: ['/bin/sh', '-c', SEED], volumeMounts, resources };
  const entrance: JsonObject = privileged
    ? { command: ['/bin/sh', '-c', ENTER], securityContext: { privileged: true, readOnlyRootFilesystem: true } }
    : { stdin: true, tty: true, securityContext: { privileged: false } };
  return {
    metadata: { name, namespace, labels: labelsOf(name) },
    spec: {
      hostname: name,
      restartPolicy: 'Always',
      terminationGracePeriodSeconds: GRACE_SECONDS,
      // A guest of this service has no business with the cluster's API.
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      ...(privileged ? { initContainers: [seeder] } : {}),
      containers: [{ name: CONTAINER, image, resources, volumeMounts, ...entrance }],
      volumes: [{ name: 'data', persistentVolumeClaim: { claimName } }],
    },
  };
}
