import { formatBytes, type ContainerSpec, type JsonObject } from '@headgate/domain-contracts';
import type { KubeObject } from '../api/kube-object.js';
import { ANNOTATION, LABEL } from '../labels.js';
import { writeRecordedSpec, type RecordedSpec } from './recorded-spec.js';

/** The container's name inside its pod. */
export const CONTAINER = 'main';
/** The mount path of the data volume in an unprivileged container. */
const DATA_PATH = '/data';
/** The mount path of the data volume in a privileged container, outside of its changed root. */
const PERSIST_PATH = '/persist';
/** The changed root of a privileged container. */
export const PERSISTENT_ROOT = `${PERSIST_PATH}/root`;

const GRACE_SECONDS = 10;

/**
 * Copies the image's files onto the volume, once. Entry by entry, because not every `cp` can stay on one file system.
 * An interrupted copy starts over: only a complete one gets the final name.
 */
const SEED_SCRIPT = `set -eu
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

/**
 * Mounts the kernel's file systems in the persistent root, changes into it, and reaps processes until the pod is
 * stopped.
 */
const CHROOT_SCRIPT = `set -eu
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

/** The data volume. It stores the spec, from which the pod is created on every start. */
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

/** The pod of a container. Its terminal keeps an image running whose entry point is a plain shell. */
export function containerPod(
  { namespace, name }: { readonly namespace: string; readonly name: string },
  claimName: string,
  spec: RecordedSpec,
): KubeObject & { readonly spec: JsonObject } {
  const { image, cpu, memoryBytes, privileged } = spec;
  const memory = formatBytes(memoryBytes);
  const resources = { requests: { cpu: String(cpu), memory }, limits: { cpu: String(cpu), memory } };
  const volumeMounts = [{ name: 'data', mountPath: privileged ? PERSIST_PATH : DATA_PATH }];
  const seedContainer = { name: 'seed', image, command: ['/bin/sh', '-c', SEED_SCRIPT], volumeMounts, resources };
  const entryPoint: JsonObject = privileged
    ? { command: ['/bin/sh', '-c', CHROOT_SCRIPT], securityContext: { privileged: true, readOnlyRootFilesystem: true } }
    : { stdin: true, tty: true, securityContext: { privileged: false } };
  return {
    metadata: { name, namespace, labels: labelsOf(name) },
    spec: {
      hostname: name,
      restartPolicy: 'Always',
      terminationGracePeriodSeconds: GRACE_SECONDS,
      // Containers of users must not reach the cluster's API.
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      ...(privileged ? { initContainers: [seedContainer] } : {}),
      containers: [{ name: CONTAINER, image, resources, volumeMounts, ...entryPoint }],
      volumes: [{ name: 'data', persistentVolumeClaim: { claimName } }],
    },
  };
}
