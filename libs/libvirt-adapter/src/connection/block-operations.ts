import { DomainError } from '@headgate/domain-contracts';
import { formatXml } from '../xml/xml.js';

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
  /** Path of a new file for the memory of the guest, which is saved up to the moment of the switch. */
  readonly memory?: string;
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

export interface DiskCopy {
  readonly target: string;
  readonly path: string;
  readonly format: 'qcow2' | 'raw';
}

export interface BlockJob {
  readonly current: number;
  readonly end: number;
}

/**
 * Operations on the disks of a running domain. All throw INSTANCE_NOT_FOUND if it does not exist and WRONG_STATE if it
 * is not running.
 */
export abstract class BlockOperations {
  /**
   * Makes overlays the files of the disks, all at the same moment or none, in the running and in the persistent domain.
   */
  abstract switchToOverlays(uuid: string, change: DiskSwitch): Promise<void>;
  /** Starts to write the changes of a layer into the layer below. */
  abstract commit(uuid: string, commit: LayerCommit): Promise<void>;
  /** @returns undefined if no job of the disk is running */
  abstract job(uuid: string, target: string): Promise<BlockJob | undefined>;
  /**
   * Starts to copy a disk with all its layers into a file that exists, while the guest uses it. The job stays until
   * `pivot`.
   * @param format of the new file
   */
  abstract copy(uuid: string, copy: DiskCopy): Promise<void>;
  /**
   * Starts to copy the content below the file of a disk into that file. When the job has ended on its own, the file is
   * based on nothing, also in the persistent domain; when it has failed, the parts that it has copied stay.
   */
  abstract pull(uuid: string, target: string): Promise<void>;
  /**
   * Ends a job that has caught up: the guest uses the lower layer or the copy from now on, also after its next start.
   * @throws DomainError if it has not
   */
  abstract pivot(uuid: string, target: string): Promise<void>;
  /** Ends a job; the guest uses the same files as before. It is not an error if there is none. */
  abstract cancel(uuid: string, target: string): Promise<void>;
  /**
   * The names of all block nodes of the domain's QEMU, which libvirt itself does not know when it has lost track of
   * them.
   */
  abstract nodes(uuid: string): Promise<string[]>;
  /** @throws DomainError if the node is in use */
  abstract removeNode(uuid: string, name: string): Promise<void>;
}

/** Commands for QEMU's monitor: https://www.qemu.org/docs/master/interop/qemu-qmp-ref.html */
export const LIST_NODES = JSON.stringify({ execute: 'query-named-block-nodes', arguments: { flat: true } });
export const removeNodeCommand = (name: string): string =>
  JSON.stringify({ execute: 'blockdev-del', arguments: { 'node-name': name } });

/** @throws DomainError BACKEND_FAILED with the reason that QEMU gives */
export function readMonitorReply(reply: string): unknown {
  const parsed = JSON.parse(reply) as { readonly return?: unknown; readonly error?: { readonly desc?: string } };
  if (parsed.error) throw new DomainError('BACKEND_FAILED', `QEMU: ${parsed.error.desc ?? 'unknown error'}`);
  return parsed.return;
}

export const nodeNamesIn = (reply: string): string[] =>
  (readMonitorReply(reply) as readonly { readonly 'node-name'?: string }[]).flatMap((node) => node['node-name'] ?? []);

/** https://libvirt.org/formatdomain.html#hard-drives-floppy-disks-cdroms */
export const diskCopyXml = ({ path, format }: DiskCopy): string =>
  formatXml({ disk: { '@type': 'file', source: { '@file': path }, driver: { '@type': format } } });

/** https://libvirt.org/formatsnapshot.html */
export const diskSwitchXml = ({ overlays, others, memory }: DiskSwitch): string =>
  formatXml({
    domainsnapshot: {
      ...(memory !== undefined && { memory: { '@snapshot': 'external', '@file': memory } }),
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
