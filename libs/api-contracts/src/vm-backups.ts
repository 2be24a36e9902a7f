import { BACKUP_CONSISTENCIES, type BackupConsistency } from '@headgate/domain-contracts';
import {
  ArrayMaxSize,
  ArrayMinSize,
  ArrayUnique,
  IsArray,
  IsBoolean,
  IsIn,
  IsInt,
  IsObject,
  IsString,
  Length,
  Matches,
  MaxLength,
  Min,
} from 'class-validator';
import { ProofStateView } from './backup-proofs.js';
import { KeepRulesDto } from './backup-rules.js';
import { IsContextName, IsInstanceName, Nested, Optional } from './fields.js';
import { MoveMappingDto } from './moves.js';

const TARGET_KINDS = ['directory'] as const;
const MAX_REF_CHARS = 519;
const MAX_DISKS = 64;

/** POST /api/ext/backups/targets */
export class AddBackupTargetDto {
  /** The name of the target. No two targets have the same. */
  @IsInstanceName() name!: string;
  /** `directory`: a folder of this machine, which may be the mount of a file server. */
  @IsIn(TARGET_KINDS) kind!: (typeof TARGET_KINDS)[number];
  /** The absolute path of the repository, in one of the folders that the configuration allows. */
  @Matches(/^\/[^\0]+$/, { message: '$property must be an absolute path.' }) @MaxLength(1024) path!: string;
  /**
   * The password of the repository, at least 12 characters. Without it, its backups can't be read: keep it in another
   * place as well.
   */
  @IsString() @Length(12, 1024) password!: string;
}

/** `{target}` of a path. */
export class BackupTargetPath {
  /** The ID of a target, as in the list. */
  @Matches(/^[0-9a-f]{16}$/, { message: '$property must be the ID of a backup target.' }) target!: string;
}

/** `{target}` and `{point}` of a path. */
export class BackupPointPath extends BackupTargetPath {
  /** The ID of a backup, as in the list. */
  @Matches(/^[0-9a-f]{64}$/, { message: '$property must be the ID of a backup.' }) point!: string;
}

/** A repository of backups, without its password. */
export class BackupTargetView {
  /** The ID of the target. */
  @IsString() id!: string;
  /** Its name. */
  @IsString() name!: string;
  /** The kind of the target. */
  @IsIn(TARGET_KINDS) kind!: (typeof TARGET_KINDS)[number];
  /** The path of the repository. Only for administrators. */
  @Optional() @IsString() path?: string;
  /** The login of the user who has added it. Only for administrators. */
  @Optional() @IsString() creator?: string;
  /** When it was added, in ISO 8601. */
  @IsString() createdAt!: string;
}

/** POST /api/ext/vms/{ns}/{name}/backup */
export class BackUpVmDto {
  /** The ID of the target. */
  @Matches(/^[0-9a-f]{16}$/, { message: '$property must be the ID of a backup target.' }) target!: string;
}

/** The query of a list of backups. */
export class BackupPointsQuery {
  /** Only those of the VM with this ref, such as vm/lab/default/web. */
  @Optional() @IsString() @MaxLength(1024) ref?: string;
}

/** A VM as it was at one moment. */
export class BackupPointView {
  /** The ID of the backup. */
  @IsString() id!: string;
  /** The moment, in ISO 8601. */
  @IsString() time!: string;
  /** The ref that the VM had. */
  @IsString() ref!: string;
  /** The ID of the VM in its context. Another VM of this name has another one. */
  @IsString() uid!: string;
  /**
   * `stopped`: the VM was off. `frozen`: its agent had written everything to the disks. `crash`: as after a power
   * failure.
   */
  @IsIn(BACKUP_CONSISTENCIES) consistency!: BackupConsistency;
  /** The ID of the schedule that has created it. */
  @Optional() @IsString() schedule?: string;
  /** The sizes of its disks together, in bytes. */
  @IsInt() @Min(0) sizeBytes!: number;
  /** Whether it has booted. Absent if that was never tried. */
  @Optional() @IsObject() @Nested(() => ProofStateView) proof?: ProofStateView;
}

/** POST /api/ext/backups/targets/{target}/clean */
export class CleanBackupsDto {
  /** At least one of them must be more than 0. The newest backup of a VM is always kept. */
  @IsObject() @Nested(() => KeepRulesDto) keep!: KeepRulesDto;
  /** The time zone whose days and hours count, of the IANA database. Default: UTC. */
  @Optional() @IsString() @MaxLength(64) timeZone?: string;
}

export const TARGET_STATES = ['ready', 'locked', 'unusable'] as const;

/** GET /api/ext/backups/targets/{target}/state */
export class BackupTargetStateView {
  /**
   * `locked`: another process excludes backups, such as a clean-up. `unusable`: it can't be opened, for example because
   * its file system is not mounted, or its password was changed.
   */
  @IsIn(TARGET_STATES) state!: (typeof TARGET_STATES)[number];
  /** Why it is not ready. */
  @Optional() @IsString() reason?: string;
  /** The number of backups of VMs. Absent if it is unusable. */
  @Optional() @IsInt() @Min(0) points?: number;
  /** The moment of the newest backup, in ISO 8601. Absent if there is none. */
  @Optional() @IsString() lastBackup?: string;
  /** The space that the repository takes, in bytes. */
  @Optional() @IsInt() @Min(0) usedBytes?: number;
  /** The space that is left on its file system, in bytes. */
  @Optional() @IsInt() @Min(0) freeBytes?: number;
}

/** POST /api/ext/backups/targets/{target}/check */
export class CheckBackupsDto {
  /** Whether everything is read and compared with its hashes, and not only the lists. Default: false. */
  @Optional() @IsBoolean() readData?: boolean;
}

/** POST /api/ext/backups/targets/{target}/points/{point}/restore */
export class RestoreBackupDto {
  /** The context that gets the VM. */
  @IsContextName() context!: string;
  /** The namespace of the VM; by default the one of its context. */
  @Optional() @IsInstanceName() namespace?: string;
  /** The name of the new VM. */
  @IsInstanceName() name!: string;
  /** The networks and storage classes that take the place of those of the original. */
  @Optional() @IsObject() @Nested(() => MoveMappingDto) mapping?: MoveMappingDto;
  /** Whether the network cards keep the addresses of the original. Default: false. */
  @Optional() @IsBoolean() keepMacs?: boolean;
  /** Whether the VM starts immediately, and reads its disks from the backup until they are copied. Default: false. */
  @Optional() @IsBoolean() instant?: boolean;
}

/** POST /api/ext/backups/targets/{target}/points/{point}/replace-disks and …/add-disks */
export class RestoreDisksDto {
  /** The VM that gets the disks, as a ref such as `vm/lab/default/web`. */
  @IsString() @MaxLength(MAX_REF_CHARS) ref!: string;
  /** The disks of the backup by their names, such as `vda`. Default: all. */
  @Optional()
  @IsArray()
  @ArrayMinSize(1)
  @ArrayMaxSize(MAX_DISKS)
  @ArrayUnique()
  @IsString({ each: true })
  @Length(1, 64, { each: true })
  disks?: string[];
}
