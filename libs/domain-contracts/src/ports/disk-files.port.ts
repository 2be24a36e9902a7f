import type { Readable } from 'node:stream';
import type { Plan } from '../model/plan.js';
import type { ProofDisk } from './boot-proof.port.js';

/** A part of a disk with a file system of its own, or one that can't be read. */
export interface FileVolume {
  /** Its place in the list of volumes, which its questions name. */
  readonly number: number;
  /** The name of the disk. A logical volume on several disks has the first one. */
  readonly disk: string;
  /** Of its device in the guest that reads it, such as `vda1`, or of its logical volume, such as `vg/root`. */
  readonly name: string;
  /** `ext4`, `xfs`, `btrfs`, `vfat`, `exfat`, `ntfs` and `iso9660` are read, with others as the reader names them. */
  readonly fileSystem: string;
  /** Empty if it has none. Without characters that can't be printed. */
  readonly label: string;
  readonly sizeBytes: number;
  /** One sentence: why its files can't be read. */
  readonly problem?: string;
}

/** `other`: a device, a socket or a pipe, which is never opened. `unreadable`: the file system can't say. */
export const FILE_KINDS = ['file', 'folder', 'link', 'other', 'unreadable'] as const;
export type FileKind = (typeof FILE_KINDS)[number];

export interface FileEntry {
  /** As `textOfFile` writes it. */
  readonly name: string;
  readonly kind: FileKind;
  /** Of a file; 0 for others. */
  readonly sizeBytes: number;
  /** ISO 8601. Absent if it is no date. */
  readonly modifiedAt?: string;
  /** The permissions, of which NTFS and FAT have none: 0 to 0o7777. */
  readonly mode: number;
  /** Where a link points, as `textOfFile` writes it. On disks, it is never followed. */
  readonly target?: string;
  /** The kind of the entry that a link leads to. Absent for a broken link, and where links are not followed. */
  readonly targetKind?: FileKind;
}

export interface FilePage {
  /** All entries of the folder, at most 200 000. */
  readonly total: number;
  /** Whether the folder has more entries than are counted. */
  readonly isCut: boolean;
  /** Sorted by their bytes. */
  readonly entries: readonly FileEntry[];
}

export interface FileRange {
  readonly skip: number;
  /** 1 to 1000. */
  readonly limit: number;
}

export interface FileContent {
  readonly sizeBytes: number;
  /** Destroying it ends the reading. An error that comes later than its beginning destroys it. */
  readonly stream: Readable;
}

export interface FilesSpec {
  /** A new UUID, which identifies the guest of this session and everything that is created for it. */
  readonly id: string;
  /** Read where they are, and never changed. */
  readonly disks: readonly ProofDisk[];
}

/**
 * The files of disks, as a helper guest reads them. Everything that comes from the guest is untrusted. Paths are as
 * `textOfFile` writes them, and begin with `/`. All methods throw FILE_NOT_FOUND for a path or a volume that is not
 * there, WRONG_STATE for an entry of another kind or through a link, NOT_SUPPORTED for a volume that can't be read,
 * BACKEND_FAILED for a file system that is damaged and for a session that has ended, and BACKEND_TIMEOUT, which ends
 * the session.
 */
export abstract class OpenedFiles {
  abstract readonly volumes: readonly FileVolume[];
  /** Resolves when the session has ended for any reason, and nothing is left of it. */
  abstract readonly ended: Promise<void>;
  abstract list(volume: number, path: string, range: FileRange): Promise<FilePage>;
  /** The content of a file. @throws DomainError BUSY while as many downloads run as are possible */
  abstract read(volume: number, path: string, signal: AbortSignal): Promise<FileContent>;
  /**
   * A folder with everything in it as tar. Links are links, and devices, sockets and pipes are left out: the last entry
   * of the archive lists the missing ones.
   * @throws DomainError BUSY while as many downloads run as are possible
   */
  abstract archive(volume: number, path: string, signal: AbortSignal): Promise<Readable>;
  /** Ends the guest, and removes everything. May be called twice. */
  abstract close(): Promise<void>;
}

/**
 * Reads the files on disks in a helper guest that has no network and gets the disks read-only. The file systems are
 * never mounted on the machine itself, because they may be hostile.
 */
export abstract class DiskFiles {
  /** Changes nothing. @throws DomainError BACKEND_UNREACHABLE */
  abstract plan(request: { readonly id: string; readonly diskCount: number }): Promise<Plan>;

  /**
   * Resolves when the volumes are known. `signal` ends it before that, and leaves nothing behind.
   * @throws DomainError the first refusal of the plan, BACKEND_FAILED when the guest can't be started or a disk can't
   *   be read, BACKEND_TIMEOUT
   */
  abstract open(spec: FilesSpec, signal: AbortSignal): Promise<OpenedFiles>;
}
