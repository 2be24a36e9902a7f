import { IsArray, IsBoolean, IsInt, IsISO8601, IsString, Matches, Max, MaxLength, Min } from 'class-validator';
import { Nested, Nullable, Optional } from './fields.js';

export class GuestOsView {
  @IsString() hostname!: string;
  /** As in `/etc/os-release`. */
  @IsString() id!: string;
  @IsString() name!: string;
  @IsString() prettyName!: string;
  @IsString() version!: string;
  @IsString() kernel!: string;
}

/** A user who is logged in to the guest. */
export class GuestUserView {
  @IsString() name!: string;
  /** Null when the agent does not know it. */
  @Nullable() @IsISO8601() loginTime!: string | null;
}

/** A mounted file system of the guest. */
export class GuestFilesystemView {
  @IsString() disk!: string;
  @IsString() mountPoint!: string;
  @IsString() type!: string;
  @Nullable() @IsInt() @Min(0) usedBytes!: number | null;
  @Nullable() @IsInt() @Min(0) totalBytes!: number | null;
}

/** GET /api/vms/{ns}/{name}/guestinfo. Texts are empty where the agent does not know them. */
export class GuestInfoView {
  @Nested(() => GuestOsView) os!: GuestOsView;
  @IsArray() @Nested(() => GuestUserView, { each: true }) users!: GuestUserView[];
  @IsArray() @Nested(() => GuestFilesystemView, { each: true }) filesystems!: GuestFilesystemView[];
}

/** POST /api/ext/guest/password */
export class GuestPasswordDto {
  @IsString() @MaxLength(519) ref!: string;
  /** An account that exists in the guest. */
  @Matches(/^[A-Za-z0-9_][A-Za-z0-9_.@$-]{0,127}$/, { message: '$property must be the name of an account.' })
  user!: string;
  @Matches(/^[^\p{Cc}]{1,512}$/u, {
    message: '$property must have 1 to 512 characters, none of them a control character.',
  })
  password!: string;
}

/** POST /api/ext/guest/command */
export class GuestCommandDto {
  @IsString() @MaxLength(519) ref!: string;
  /** The program: an absolute path, or a name that the agent looks up. No shell interprets it. */
  @Matches(/^[^\p{Cc}]{1,1024}$/u, { message: '$property must be the path of a program.' }) path!: string;
  @Optional() @IsArray() @IsString({ each: true }) @MaxLength(32_768, { each: true }) args?: string[];
  /** Default 10. */
  @Optional() @IsInt() @Min(1) @Max(25) timeoutSeconds?: number;
}

/** The result of a program in a guest. */
export class GuestCommandView {
  /** Null when a signal or an exception ended it. */
  @Nullable() @IsInt() exitCode!: number | null;
  /** At most 64 KiB. */
  @IsString() stdout!: string;
  @IsString() stderr!: string;
  /** Whether a part of the output is missing. */
  @IsBoolean() isTruncated!: boolean;
}
