import {
  formatBytes,
  type IngestSpec,
  type IngestTarget,
  type JsonObject,
  type PortableDisk,
  type PortableNic,
} from '@headgate/domain-contracts';
import type { KubeObject } from '../api/kube-object.js';
import { ANNOTATION, LABEL, TAG_PREFIX } from '../labels.js';
import { cloudInitFromSecret } from '../provisioning/cloud-init.js';
import { firmware, GRACE_SECONDS, size } from '../provisioning/vm-manifest.js';

/** A network card of the new VM. */
export interface PlannedNic extends PortableNic {
  /** A network attachment definition; absent for the network of the pod. */
  readonly attachment?: string;
}

/** Kubernetes' names of architectures, by those of libvirt. */
const ARCHITECTURES: Readonly<Record<string, string>> = { x86_64: 'amd64', aarch64: 'arm64', s390x: 's390x' };

/** @returns an empty text for an unknown one */
export const architectureOf = ({ arch }: IngestSpec['vm']): string => ARCHITECTURES[arch] ?? '';

const NIC_MODELS = ['virtio', 'e1000', 'e1000e', 'rtl8139', 'ne2k_pci', 'pcnet'];

const baseName = ({ id, ref }: IngestTarget): string => `${ref.name}-${id.slice(0, 8)}`;

/** The name of the DataVolume of a disk. Names of disks come from another backend. */
export const volumeOf = (target: IngestTarget, disk: string): string =>
  `${baseName(target)}-${disk.toLowerCase().replace(/[^a-z0-9-]/g, '-')}`;

export const secretOf = (target: IngestTarget): string => `${baseName(target)}-cloudinit`;

const labelsOf = ({ id, ref }: IngestTarget): Record<string, string> => ({
  [LABEL.vm]: ref.name,
  [LABEL.move]: id,
});

/**
 * No pod uses a disk before it is complete, so storage that waits for its first consumer would wait forever. The
 * DataVolume stays when it is complete.
 */
export const UPLOAD_ANNOTATIONS = {
  'cdi.kubevirt.io/storage.bind.immediate.requested': 'true',
  'cdi.kubevirt.io/storage.deleteAfterCompletion': 'false',
} as const;

/** The spec of a DataVolume that waits for an upload. */
export const uploadSpec = (sizeBytes: number, storageClass: string | undefined): JsonObject => ({
  source: { upload: {} },
  storage: {
    resources: { requests: { storage: formatBytes(sizeBytes) } },
    ...(storageClass !== undefined && { storageClassName: storageClass }),
  },
});

/** The DataVolume of a disk, which waits for an upload. The first one keeps the VM until it can be created. */
export function diskManifest(spec: IngestSpec, disk: PortableDisk, vm: KubeObject | undefined): KubeObject {
  const { ref, mapping } = spec;
  const storageClass = mapping.storageClasses[disk.storageClass ?? ''];
  return {
    metadata: {
      namespace: ref.namespace,
      name: volumeOf(spec, disk.name),
      labels: labelsOf(spec),
      annotations: {
        ...UPLOAD_ANNOTATIONS,
        ...(vm && { [ANNOTATION.movedVm]: JSON.stringify(vm) }),
      },
    },
    spec: uploadSpec(disk.sizeBytes, storageClass),
  } as KubeObject;
}

/** The Secret with the user data. It has no owner, and is deleted with the VM by its label. */
export const secretManifest = (spec: IngestSpec, userData: string): KubeObject =>
  ({
    metadata: { namespace: spec.ref.namespace, name: secretOf(spec), labels: labelsOf(spec) },
    type: 'Opaque',
    data: { userdata: Buffer.from(userData).toString('base64') },
  }) as KubeObject;

export function vmOf(spec: IngestSpec, nics: readonly PlannedNic[], architecture: string): KubeObject {
  const { ref, vm } = spec;
  const { name, namespace } = ref;
  const tags = Object.fromEntries(vm.tags.map((tag) => [TAG_PREFIX + tag, 'true']));
  const hasCloudInit = vm.cloudInit !== undefined;
  return {
    metadata: {
      name,
      namespace,
      labels: { ...labelsOf(spec), ...tags },
      ...(vm.os !== undefined && { annotations: { [ANNOTATION.guestOs]: vm.os } }),
    },
    spec: {
      runStrategy: 'Halted',
      template: {
        metadata: { labels: { 'kubevirt.io/vm': name, [LABEL.vm]: name } },
        spec: {
          terminationGracePeriodSeconds: GRACE_SECONDS,
          evictionStrategy: 'LiveMigrateIfPossible',
          ...(architecture !== '' && { architecture }),
          domain: {
            ...size(vm),
            ...machine(vm),
            devices: {
              rng: {},
              ...(vm.tpm && { tpm: { persistent: true } }),
              disks: [
                ...vm.disks.map((disk, index) => ({
                  name: deviceOf(disk),
                  ...(index === 0 && { bootOrder: 1 }),
                  disk: { bus: disk.bus },
                })),
                ...(hasCloudInit ? [{ name: 'cloudinit', disk: { bus: vm.disks[0]?.bus ?? 'virtio' } }] : []),
              ],
              interfaces: nics.map(interfaceOf),
              ...(nics.length === 0 && { autoattachPodInterface: false }),
            },
          },
          networks: nics.map(({ name: nic, attachment }) =>
            attachment === undefined ? { name: nic, pod: {} } : { name: nic, multus: { networkName: attachment } },
          ),
          volumes: [
            ...vm.disks.map((disk) => ({ name: deviceOf(disk), dataVolume: { name: volumeOf(spec, disk.name) } })),
            ...(hasCloudInit ? [{ name: 'cloudinit', ...cloudInitFromSecret(secretOf(spec)) }] : []),
          ],
        },
      },
    },
  } as unknown as KubeObject;
}

/**
 * Windows measures time by busy waiting, and assumes processors that are always there, unless the hypervisor says
 * otherwise. Source: https://kubevirt.io/user-guide/compute/virtual_hardware/#features
 */
const WINDOWS_FEATURES: JsonObject = {
  acpi: {},
  apic: {},
  hyperv: { relaxed: {}, vapic: {}, spinlocks: { spinlocks: 8191 } },
};
const WINDOWS_CLOCK: JsonObject = {
  // KubeVirt needs a zone, and that of the guest is unknown.
  utc: {},
  timer: { hpet: { present: false }, hyperv: {}, pit: { tickPolicy: 'delay' }, rtc: { tickPolicy: 'catchup' } },
};

/** The firmware, the features and the clock of a guest. */
export function machine(vm: Pick<IngestSpec['vm'], 'firmware' | 'tpm' | 'os'>): JsonObject {
  const { features, ...rest } = firmware(vm);
  if (!vm.os?.startsWith('win')) return { ...(features !== undefined && { features }), ...rest };
  return { ...rest, features: { ...WINDOWS_FEATURES, ...(features as JsonObject | undefined) }, clock: WINDOWS_CLOCK };
}

const deviceOf = ({ name }: PortableDisk): string => name.toLowerCase().replace(/[^a-z0-9-]/g, '-');

const interfaceOf = ({ name, mac, model, attachment }: PlannedNic): JsonObject => ({
  name,
  ...(attachment === undefined ? { masquerade: {} } : { bridge: {} }),
  ...(mac !== '' && { macAddress: mac }),
  ...(NIC_MODELS.includes(model) && { model }),
});
