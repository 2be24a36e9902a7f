import { FILE_KINDS, type FileKind } from '@headgate/domain-contracts';
import { IsArray, IsBoolean, IsIn, IsInt, IsISO8601, IsString, Matches, Max, MaxLength, Min } from 'class-validator';
import { BackupPointPath } from './vm-backups.js';
import { IsContextName, IsCountText, IsInstanceName, Nested, Optional } from './fields.js';
import { ContextQuery, InstancePath } from './queries.js';

const SESSION = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const MAX_VOLUME = 255;
const MAX_SKIP = 200_000;
const MAX_LIMIT = 1000;
const MAX_PATH_CHARS = 32_768;

/** POST /api/ext/backups/targets/{target}/points/{point}/files */
export class OpenPointFilesDto {
  /** The context that boots the guest which reads the files. */
  @IsContextName() context!: string;
}

/** POST /api/ext/vms/{ns}/{name}/files */
export class OpenVmFilesDto {
  /** A snapshot of the VM, which may run then. Default: the disks of the stopped VM. */
  @Optional() @IsInstanceName() snapshot?: string;
}

/** `{target}`, `{point}` and `{session}` of a path. */
export class PointFilesPath extends BackupPointPath {
  /** The ID of a session. */
  @Matches(SESSION, { message: '$property must be the ID of a session.' }) session!: string;
}

/** `{ns}`, `{name}` and `{session}` of a path. */
export class VmFilesPath extends InstancePath {
  /** The ID of a session. */
  @Matches(SESSION, { message: '$property must be the ID of a session.' }) session!: string;
}

/** The query of a file or a folder. */
export class FileQuery extends ContextQuery {
  /** The number of the volume. */
  @IsCountText(0, MAX_VOLUME) volume!: string;
  /**
   * The path, from `/`. Bytes that can't be shown are `%` and two hexadecimal digits, and `%` itself is `%25`, as in
   * the list of a folder. Default: `/`.
   */
  @Optional() @IsString() @MaxLength(MAX_PATH_CHARS) path?: string;
}

/** The query of the list of a folder. */
export class FileListQuery extends FileQuery {
  /** How many entries to skip. Default: 0. */
  @Optional() @IsCountText(0, MAX_SKIP) skip?: string;
  /** How many entries to return. Default: 200. */
  @Optional() @IsCountText(1, MAX_LIMIT) limit?: string;
}

/** The query of a file of a container. */
export class ContainerFileQuery extends ContextQuery {
  /**
   * The path, from `/`. Bytes that can't be shown are `%` and two hexadecimal digits, and `%` itself is `%25`, as in
   * the list of a folder. Default: `/`.
   */
  @Optional() @IsString() @MaxLength(MAX_PATH_CHARS) path?: string;
}

/** The query of the list of a folder of a container. */
export class ContainerFileListQuery extends ContainerFileQuery {
  /** How many entries to skip. Default: 0. */
  @Optional() @IsCountText(0, MAX_SKIP) skip?: string;
  /** How many entries to return. Default: 200. */
  @Optional() @IsCountText(1, MAX_LIMIT) limit?: string;
}

/** A part of a disk with a file system of its own, or one that can't be read. */
export class FileVolumeView {
  /** The number of the volume, which the other routes take. */
  @IsInt() @Min(0) @Max(MAX_VOLUME) number!: number;
  /** The name of its disk. */
  @IsString() disk!: string;
  /** The partition or the logical volume. */
  @IsString() name!: string;
  /** The kind of the file system, such as `ext4`, or of other content, such as `luks`. */
  @IsString() fileSystem!: string;
  /** The name that its owner has given it. May be empty. */
  @IsString() label!: string;
  /** Its size in bytes. */
  @IsInt() @Min(0) sizeBytes!: number;
  /** One sentence: why its files can't be read. */
  @Optional() @IsString() problem?: string;
}

/** A guest that reads the files of a backup or of a VM. */
export class FileSessionView {
  /** The ID of the session, which only its user can use. */
  @IsString() session!: string;
  /** The session ends when it was not used for this many seconds. */
  @IsInt() @Min(1) idleSeconds!: number;
  /** The volumes on all disks. */
  @IsArray() @Nested(() => FileVolumeView, { each: true }) volumes!: FileVolumeView[];
}

/** An entry of a folder. */
export class FileEntryView {
  /** The name. Bytes that can't be shown are `%` and two hexadecimal digits, and `%` itself is `%25`. */
  @IsString() name!: string;
  /** `other`: a device, a socket or a pipe. `unreadable`: the file system does not say. */
  @IsIn(FILE_KINDS) kind!: FileKind;
  /** The size of a file in bytes. 0 for others. */
  @IsInt() @Min(0) sizeBytes!: number;
  /** The time of the last change, in ISO 8601. Absent if it is no date. */
  @Optional() @IsISO8601() modifiedAt?: string;
  /** The number of its permissions, such as 420 for rw-r--r--. File systems of Windows have none. */
  @IsInt() @Min(0) @Max(0o7777) mode!: number;
  /** Where a link points. Links on disks are not followed. */
  @Optional() @IsString() target?: string;
  /** The kind of the entry that a link leads to, in a container. Absent for a broken link, and on disks. */
  @Optional() @IsIn(FILE_KINDS) targetKind?: FileKind;
}

/** A part of the list of a folder. */
export class FilePageView {
  /** The number of all entries. */
  @IsInt() @Min(0) total!: number;
  /** Whether the folder has more entries than are counted. */
  @IsBoolean() isCut!: boolean;
  /** The entries, sorted by the bytes of their names. */
  @IsArray() @Nested(() => FileEntryView, { each: true }) entries!: FileEntryView[];
}
