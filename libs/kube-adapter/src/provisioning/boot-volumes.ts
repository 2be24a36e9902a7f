import { formatBytes, type JsonObject, type VmSpec } from '@headgate/domain-contracts';
import { ANNOTATION, LABEL } from '../labels.js';

/** The disks that a VM is made with. */
export interface BootVolumes {
  /** DataVolumes that live and die with the VM. */
  readonly templates: readonly JsonObject[];
  readonly volumes: readonly JsonObject[];
  /** @param target bus of the hard disks, or nothing where a preference chooses it */
  disks(target: JsonObject): readonly JsonObject[];
  readonly annotations: Readonly<Record<string, string>>;
}

/** An installer is at most a dual-layer DVD; CDI needs the size before it has seen the image. */
const ISO_BYTES = 10 * 1024 ** 3;

/**
 * The boot disk by its source. Names end in the create call's id, so that they never meet a claim that was there before,
 * nor one of a VM of the same name that is still going away.
 */
export function bootVolumes(spec: VmSpec, createId: string): BootVolumes {
  const { source, ref, diskBytes } = spec;
  const root = `${ref.name}-root-${createId}`;
  switch (source.kind) {
    case 'containerDisk':
      return containerDisk(source.image, diskBytes);
    case 'image':
      return /^https?:\/\//.test(source.entry.containerDisk)
        ? imported(spec, root, source.entry.containerDisk)
        : containerDisk(source.entry.containerDisk, diskBytes);
    case 'import':
      return imported(spec, root, source.url);
    case 'iso':
      return installer(spec, root, `${ref.name}-iso-${createId}`, source.url);
    case 'pvc':
      return {
        templates: [],
        volumes: [{ name: 'root', persistentVolumeClaim: { claimName: source.claim } }],
        disks: (disk) => [{ name: 'root', bootOrder: 1, disk }],
        annotations: {},
      };
    case 'bootc':
      return { templates: [], volumes: [], disks: () => [], annotations: {} };
  }
}

/** Registry references are written with and without the scheme that CDI uses. */
const containerDisk = (image: string, diskBytes: number): BootVolumes => ({
  templates: [],
  volumes: [{ name: 'root', containerDisk: { image: image.replace(/^docker:\/\//, '') } }],
  disks: (disk) => [{ name: 'root', bootOrder: 1, disk }],
  annotations: { [ANNOTATION.diskBytes]: String(diskBytes) },
});

const imported = (spec: VmSpec, root: string, url: string): BootVolumes => ({
  templates: [dataVolume(spec, root, { http: { url } }, spec.diskBytes)],
  volumes: [{ name: 'root', dataVolume: { name: root } }],
  disks: (disk) => [{ name: 'root', bootOrder: 1, disk }],
  annotations: {},
});

/** An empty disk to install onto, tried first: after the installation the guest boots from it by itself. */
const installer = (spec: VmSpec, root: string, iso: string, url: string): BootVolumes => ({
  templates: [
    dataVolume(spec, root, { blank: {} }, spec.diskBytes),
    dataVolume(spec, iso, { http: { url } }, ISO_BYTES),
  ],
  volumes: [
    { name: 'root', dataVolume: { name: root } },
    { name: 'installer', dataVolume: { name: iso } },
  ],
  disks: (disk): readonly JsonObject[] => [
    { name: 'root', bootOrder: 1, disk },
    { name: 'installer', bootOrder: 2, cdrom: { bus: 'sata' } },
  ],
  annotations: {},
});

const dataVolume = ({ ref }: VmSpec, name: string, source: JsonObject, bytes: number): JsonObject => ({
  metadata: { name, labels: { [LABEL.vm]: ref.name } },
  spec: { source, storage: { resources: { requests: { storage: formatBytes(bytes) } } } },
});
