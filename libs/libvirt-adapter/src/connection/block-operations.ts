import { formatXml } from '../domain-xml/xml.js';

/** A disk of a domain, and the overlay that replaces it. */
export interface OverlayOfDisk {
  /** Such as `vda`. */
  readonly target: string;
  /** Path of a qcow2 file that exists and is based on the present file of the disk. */
  readonly path: string;
}

export interface DiskSwitch {
  readonly overlays: readonly OverlayOfDisk[];
  /** The targets of all other disks. */
  readonly others: readonly string[];
  /** Whether the guest agent freezes the file systems for the moment of the switch. */
  readonly quiesce: boolean;
}

export interface LayerCommit {
  readonly target: string;
  /** Path of the lower file, which receives the changes. */
  readonly base: string;
  /** Path of the file directly above it. */
  readonly top: string;
  /** Whether the guest writes to the upper file: then the job stays until `pivot`. */
  readonly isActive: boolean;
}

export interface BlockJob {
  readonly current: number;
  readonly end: number;
}

/** Operations on the disks of a running domain. All throw INSTANCE_NOT_FOUND if it does not exist and WRONG_STATE if it is not running. */
export abstract class BlockOperations {
  /** Makes overlays the files of the disks, all at the same moment or none, in the running and in the persistent domain. */
  abstract switchToOverlays(uuid: string, change: DiskSwitch): Promise<void>;
  /** Starts to write the changes of a layer into the layer below. */
  abstract commit(uuid: string, commit: LayerCommit): Promise<void>;
  /** @returns undefined if no job of the disk is running */
  abstract job(uuid: string, target: string): Promise<BlockJob | undefined>;
  /** Ends a job that has caught up: the guest uses the lower layer from now on. @throws DomainError if it has not */
  abstract pivot(uuid: string, target: string): Promise<void>;
}

/** https://libvirt.org/formatsnapshot.html */
export const diskSwitchXml = ({ overlays, others }: DiskSwitch): string =>
  formatXml({
    domainsnapshot: {
      disks: {
        disk: [
          ...overlays.map(({ target, path }) => ({
            '@name': target,
            '@snapshot': 'external',
            driver: { '@type': 'qcow2' },
            source: { '@file': path },
          })),
          ...others.map((target) => ({ '@name': target, '@snapshot': 'no' })),
        ],
      },
    },
  });
