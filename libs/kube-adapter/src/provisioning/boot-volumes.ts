import { formatBytes, type JsonObject, type VmSpec } from '@headgate/domain-contracts';
import { ANNOTATION, LABEL } from '../labels.js';

/** The disks of a new VM. */
export interface BootVolumes {
  /** DataVolumes that KubeVirt creates with the VM and deletes with it. */
  readonly templates: readonly JsonObject[];
  readonly volumes: readonly JsonObject[];
  /** @param target the bus of the hard disks, or an empty object where a preference chooses it */
  disks(target: JsonObject): readonly JsonObject[];
  readonly annotations: Readonly<Record<string, string>>;
}

/** The size of an installer disk, which CDI needs before it has read the image: larger than a dual-layer DVD. */
const ISO_BYTES = 10 * 1024 ** 3;

export interface BootVolumeOptions {
  /**
   * The names of the volumes end in it, so that they never match an existing claim or one that is still being deleted.
   */
  readonly createId: string;
  /** The guest's architecture, such as `amd64`. */
  readonly architecture: string;
  /** Whether the cluster has CDI. */
  readonly canImport: boolean;
}

/** The boot disk for a source. A catalog image is imported into a volume, so that the VM keeps its data. */
export function bootVolumes(spec: VmSpec, { createId, architecture, canImport }: BootVolumeOptions): BootVolumes {
  const { source, ref, diskBytes } = spec;
  const root = `${ref.name}-root-${createId}`;
  switch (source.kind) {
    case 'containerDisk':
      return containerDisk(source.image, diskBytes);
    case 'image': {
      if (source.entry.imported) {
        const { namespace } = ref;
        return imported(spec, root, { pvc: { namespace, name: source.entry.name } });
      }
      const image = source.entry.containerDisk;
      if (isUrl(image)) return imported(spec, root, { http: { url: image } });
      const url = `docker://${withoutScheme(image)}`;
      return canImport ? imported(spec, root, { registry: { url } }) : containerDisk(image, diskBytes);
    }
    case 'import':
      return imported(spec, root, { http: { url: source.url } });
    case 'iso':
      return installer(spec, {
        root,
        iso: `${ref.name}-iso-${createId}`,
        url: source.url,
        bus: cdromBus(architecture),
      });
    case 'pvc':
      return {
        templates: [],
        volumes: [{ name: 'root', persistentVolumeClaim: { claimName: source.claim } }],
        disks: (disk) => [{ name: 'root', bootOrder: 1, disk }],
        annotations: {},
      };
    case 'bootc':
      if (source.builder === 'context') return built(source.volume ?? root);
      // The upload does not wait for the first start of the VM.
      return imported(spec, root, { upload: {} }, BIND_IMMEDIATELY);
  }
}

/** KubeVirt refuses SATA on arm64, whose machine type has no AHCI controller. */
const cdromBus = (architecture: string): string => (architecture === 'arm64' ? 'scsi' : 'sata');

export const isUrl = (image: string): boolean => /^https?:\/\//.test(image);

/** Image references may have the `docker://` scheme that CDI uses; a container disk has none. */
const withoutScheme = (image: string): string => image.replace(/^docker:\/\//, '');

const containerDisk = (image: string, diskBytes: number): BootVolumes => ({
  templates: [],
  volumes: [{ name: 'root', containerDisk: { image: withoutScheme(image) } }],
  disks: (disk) => [{ name: 'root', bootOrder: 1, disk }],
  annotations: { [ANNOTATION.diskBytes]: String(diskBytes) },
});

const BIND_IMMEDIATELY = { 'cdi.kubevirt.io/storage.bind.immediate.requested': 'true' };

const imported = (spec: VmSpec, root: string, source: JsonObject, annotations?: JsonObject): BootVolumes => ({
  templates: [dataVolume(spec, { name: root, source, bytes: spec.diskBytes, annotations })],
  volumes: [{ name: 'root', dataVolume: { name: root } }],
  disks: (disk) => [{ name: 'root', bootOrder: 1, disk }],
  annotations: {},
});

/** A disk that was built in the cluster. It exists before the VM, which becomes its owner. */
const built = (volume: string): BootVolumes => ({
  templates: [],
  volumes: [{ name: 'root', dataVolume: { name: volume } }],
  disks: (disk) => [{ name: 'root', bootOrder: 1, disk }],
  annotations: {},
});

/**
 * An empty disk and the installer. The disk is first in the boot order: after the installation the guest boots from it.
 */
const installer = (
  spec: VmSpec,
  { root, iso, url, bus }: Readonly<Record<'root' | 'iso' | 'url' | 'bus', string>>,
): BootVolumes => ({
  templates: [
    dataVolume(spec, { name: root, source: { blank: {} }, bytes: spec.diskBytes }),
    dataVolume(spec, { name: iso, source: { http: { url } }, bytes: ISO_BYTES }),
  ],
  volumes: [
    { name: 'root', dataVolume: { name: root } },
    { name: 'installer', dataVolume: { name: iso } },
  ],
  disks: (disk): readonly JsonObject[] => [
    { name: 'root', bootOrder: 1, disk },
    { name: 'installer', bootOrder: 2, cdrom: { bus } },
  ],
  annotations: {},
});

const dataVolume = (
  { ref, storageClass }: VmSpec,
  {
    name,
    source,
    bytes,
    annotations,
  }: {
    readonly name: string;
    readonly source: JsonObject;
    readonly bytes: number;
    readonly annotations?: JsonObject | undefined;
  },
): JsonObject => ({
  metadata: { name, labels: { [LABEL.vm]: ref.name }, ...(annotations && { annotations }) },
  spec: {
    source,
    storage: {
      ...(storageClass !== undefined && { storageClassName: storageClass }),
      resources: { requests: { storage: formatBytes(bytes) } },
    },
  },
});
