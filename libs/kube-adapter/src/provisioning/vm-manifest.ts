import { formatBytes, type JsonObject, type VmSpec } from '@headgate/domain-contracts';
import { ANNOTATION, LABEL } from '../labels.js';
import type { KubeObject } from '../api/kube-object.js';
import type { BootVolumes } from './boot-volumes.js';

export interface VmManifestInput {
  readonly spec: VmSpec;
  /** Marks everything that one create call makes. */
  readonly createId: string;
  readonly disks: BootVolumes;
  /** The cloud-init volume's source; absent without user data. */
  readonly cloudInit?: JsonObject;
  readonly nodeSelector?: Readonly<Record<string, string>>;
  /** Whether CPU and memory can be added while it runs, which needs head-room from the start. */
  readonly headroom: { readonly cpu: boolean; readonly memory: boolean };
  readonly runStrategy: 'Always' | 'Halted';
}

/** Hot-plugged memory comes in blocks; a guest whose size is no multiple can never get more. Source: KubeVirt's memory hotplug. */
const MEMORY_BLOCK = 2 * 1024 ** 2;
/** Below this KubeVirt adds no memory to a running guest. */
const HOTPLUG_MEMORY_MIN = 1024 ** 3;
/** How much more a running guest may get; KubeVirt's own default. */
const HEADROOM = 4;
const MAX_VCPUS = 512;
const GRACE_SECONDS = 60;

/** Memory as KubeVirt can work with it: rounded up to whole blocks. */
const guestMemory = (bytes: number): number => Math.ceil(bytes / MEMORY_BLOCK) * MEMORY_BLOCK;

/** The VirtualMachine object of a spec. */
export function vmManifest(input: VmManifestInput): KubeObject & { readonly spec: JsonObject } {
  const { spec, createId, disks, cloudInit, nodeSelector, runStrategy } = input;
  const { name, namespace } = spec.ref;
  // A preference knows which devices its guest wants; what is written here would win over it.
  const virtio: JsonObject = spec.preference === undefined ? { bus: 'virtio' } : {};
  const model: JsonObject = spec.preference === undefined ? { model: 'virtio' } : {};
  return {
    metadata: {
      name,
      namespace,
      labels: { [LABEL.vm]: name },
      annotations: { [ANNOTATION.createId]: createId, ...disks.annotations },
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
            ...(spec.instancetype === undefined ? size(input) : {}),
            devices: {
              rng: {},
              disks: [...disks.disks(virtio), ...(cloudInit ? [{ name: 'cloudinit', disk: virtio }] : [])],
              // Said explicitly: KubeVirt's default, a bridge on the pod network, can't be migrated.
              interfaces: [{ name: 'default', masquerade: {}, ...model }],
            },
          },
          networks: [{ name: 'default', pod: {} }],
          volumes: [...disks.volumes, ...(cloudInit ? [{ name: 'cloudinit', ...cloudInit }] : [])],
        },
      },
    },
  };
}

/** CPUs as sockets, because only sockets can be added to a running guest. */
function size({ spec, headroom }: VmManifestInput): JsonObject {
  const guest = guestMemory(spec.memoryBytes);
  const maxSockets = Math.max(spec.cpu, Math.min(spec.cpu * HEADROOM, MAX_VCPUS));
  const growing = headroom.memory && guest >= HOTPLUG_MEMORY_MIN;
  return {
    cpu: { sockets: spec.cpu, cores: 1, threads: 1, ...(headroom.cpu ? { maxSockets } : {}) },
    memory: { guest: formatBytes(guest), ...(growing ? { maxGuest: formatBytes(guest * HEADROOM) } : {}) },
  };
}
