import { formatBytes, type JsonObject, type VmSpec } from '@headgate/domain-contracts';
import { ANNOTATION, LABEL, TAG_PREFIX } from '../labels.js';
import type { KubeObject } from '../api/kube-object.js';
import type { BootVolumes } from './boot-volumes.js';

export interface VmManifestInput {
  readonly spec: VmSpec;
  /**
   * Part of the names of all objects of the create call. It identifies the call, unless the spec has the ID of a
   * creation.
   */
  readonly createId: string;
  readonly disks: BootVolumes;
  /** The cloud-init volume's source; absent without user data. */
  readonly cloudInit?: JsonObject;
  readonly nodeSelector?: Readonly<Record<string, string>>;
  readonly runStrategy: 'Always' | 'Halted';
}

/** Guest memory must be a multiple of this, or KubeVirt never hot-plugs more. Source: KubeVirt's memory hotplug. */
const MEMORY_BLOCK_BYTES = 2 * 1024 ** 2;
export const GRACE_SECONDS = 60;

const roundUpToBlocks = (bytes: number): number => Math.ceil(bytes / MEMORY_BLOCK_BYTES) * MEMORY_BLOCK_BYTES;

/** The VirtualMachine object for a spec. */
export function vmManifest(input: VmManifestInput): KubeObject & { readonly spec: JsonObject } {
  const { spec, createId, disks, cloudInit, nodeSelector, runStrategy } = input;
  const { name, namespace } = spec.ref;
  // A value in the VM would override the preference, which knows the right devices for its guest.
  const virtio: JsonObject = spec.preference === undefined ? { bus: 'virtio' } : {};
  const model: JsonObject = spec.preference === undefined ? { model: 'virtio' } : {};
  return {
    metadata: {
      name,
      namespace,
      labels: { [LABEL.vm]: name, ...Object.fromEntries((spec.tags ?? []).map((tag) => [TAG_PREFIX + tag, 'true'])) },
      annotations: { [ANNOTATION.createId]: spec.creation ?? createId, ...disks.annotations },
    },
    spec: {
      runStrategy,
      ...(spec.instancetype === undefined ? {} : { instancetype: { name: spec.instancetype } }),
      ...(spec.preference === undefined ? {} : { preference: { name: spec.preference } }),
      ...(disks.templates.length === 0 ? {} : { dataVolumeTemplates: disks.templates }),
      template: {
        metadata: { labels: { 'kubevirt.io/vm': name, [LABEL.vm]: name } },
        spec: {
          terminationGracePeriodSeconds: GRACE_SECONDS,
          evictionStrategy: 'LiveMigrateIfPossible',
          ...(nodeSelector === undefined ? {} : { nodeSelector }),
          domain: {
            ...(spec.instancetype === undefined ? size(spec) : {}),
            ...firmware(spec),
            devices: {
              rng: {},
              ...(spec.tpm && { tpm: { persistent: true } }),
              disks: [...disks.disks(virtio), ...(cloudInit ? [{ name: 'cloudinit', disk: virtio }] : [])],
              // Explicit, because KubeVirt's default, a bridge on the pod network, prevents live migration.
              interfaces: [
                { name: 'default', ...(spec.network === undefined ? { masquerade: {} } : { bridge: {} }), ...model },
              ],
            },
          },
          networks: [
            {
              name: 'default',
              ...(spec.network === undefined ? { pod: {} } : { multus: { networkName: spec.network } }),
            },
          ],
          volumes: [...disks.volumes, ...(cloudInit ? [{ name: 'cloudinit', ...cloudInit }] : [])],
        },
      },
    },
  };
}

/**
 * Without a choice KubeVirt decides, or the preference. The variables of the firmware are kept only next to those of a
 * TPM, because both need a storage class for the state of VMs.
 */
export function firmware({ firmware, tpm }: Pick<VmSpec, 'firmware' | 'tpm'>): JsonObject {
  if (firmware === undefined) return {};
  if (firmware === 'bios') return { firmware: { bootloader: { bios: {} } } };
  const secureBoot = firmware === 'uefi-secure';
  return {
    firmware: { bootloader: { efi: { secureBoot, ...(tpm && { persistent: true }) } } },
    // KubeVirt refuses Secure Boot without it.
    ...(secureBoot && { features: { smm: { enabled: true } } }),
  };
}

/**
 * CPUs are sockets, because KubeVirt adds only sockets to a running guest. The maximum is KubeVirt's to choose: with
 * `maxSockets` or `maxGuest` in the VM, it would refuse to scale the VM further, or only after a restart.
 */
export const size = ({ cpu, memoryBytes }: Pick<VmSpec, 'cpu' | 'memoryBytes'>): JsonObject => ({
  cpu: { sockets: cpu, cores: 1, threads: 1 },
  memory: { guest: formatBytes(roundUpToBlocks(memoryBytes)) },
});
