import { IsArray, IsBoolean, IsInt, IsISO8601, IsString, Matches, Max, MaxLength, Min } from 'class-validator';
import { Nested, Nullable, Optional } from './fields.js';

/** The operating system of a guest, as its agent reports it. */
export class GuestOsView {
  /** The host name of the guest. */
  @IsString() hostname!: string;
  /** As in `/etc/os-release`. */
  @IsString() id!: string;
  /** The name, such as `Debian GNU/Linux`. */
  @IsString() name!: string;
  /** The name with the version, such as `Debian GNU/Linux 12 (bookworm)`. */
  @IsString() prettyName!: string;
  /** The version. */
  @IsString() version!: string;
  /** The release of the kernel. */
  @IsString() kernel!: string;
}

/** A user who is logged in to the guest. */
export class GuestUserView {
  /** The name of the account. */
  @IsString() name!: string;
  /** Null when the agent does not know it. */
  @Nullable() @IsISO8601() loginTime!: string | null;
}

/** A mounted file system of the guest. */
export class GuestFilesystemView {
  /** The name of the device in the guest. */
  @IsString() disk!: string;
  /** The path at which it is mounted. */
  @IsString() mountPoint!: string;
  /** The type, such as `ext4`. */
  @IsString() type!: string;
  /** The used space in bytes; null if it is unknown. */
  @Nullable() @IsInt() @Min(0) usedBytes!: number | null;
  /** The size in bytes; null if it is unknown. */
  @Nullable() @IsInt() @Min(0) totalBytes!: number | null;
}

/** GET /api/vms/{ns}/{name}/guestinfo. Texts are empty where the agent does not know them. */
export class GuestInfoView {
  /** The operating system. */
  @Nested(() => GuestOsView) os!: GuestOsView;
  /** The users who are logged in. */
  @IsArray() @Nested(() => GuestUserView, { each: true }) users!: GuestUserView[];
  /** The mounted file systems. */
  @IsArray() @Nested(() => GuestFilesystemView, { each: true }) filesystems!: GuestFilesystemView[];
}

/** POST /api/ext/guest/password */
export class GuestPasswordDto {
  /** The ref of the VM: `vm/<context>/<namespace>/<name>`. */
  @IsString() @MaxLength(519) ref!: string;
  /** An account that exists in the guest. */
  @Matches(/^[A-Za-z0-9_][A-Za-z0-9_.@$-]{0,127}$/, { message: '$property must be the name of an account.' })
  user!: string;
  /** The new password of the account. */
  @Matches(/^[^\p{Cc}]{1,512}$/u, {
    message: '$property must have 1 to 512 characters, none of them a control character.',
  })
  password!: string;
}

/** POST /api/ext/guest/command */
export class GuestCommandDto {
  /** The ref of the VM: `vm/<context>/<namespace>/<name>`. */
  @IsString() @MaxLength(519) ref!: string;
  /** The program: an absolute path, or a name that the agent looks up. No shell interprets it. */
  @Matches(/^[^\p{Cc}]{1,1024}$/u, { message: '$property must be the path of a program.' }) path!: string;
  /** The arguments of the program. Default: none. */
  @Optional() @IsArray() @IsString({ each: true }) @MaxLength(32_768, { each: true }) args?: string[];
  /** The longest time in seconds that the program may take. Default 10. */
  @Optional() @IsInt() @Min(1) @Max(25) timeoutSeconds?: number;
}

/** The result of a program in a guest. */
export class GuestCommandView {
  /** The exit status; null when a signal or an exception ended it. */
  @Nullable() @IsInt() exitCode!: number | null;
  /** At most 64 KiB. */
  @IsString() stdout!: string;
  /** The error output of the program, at most 64 KiB. */
  @IsString() stderr!: string;
  /** Whether a part of the output is missing. */
  @IsBoolean() isTruncated!: boolean;
}
