import { IsISO8601, IsNotEmpty, IsString, Matches, MaxLength } from 'class-validator';
import { Optional } from './fields.js';

/** POST /api/ext/ssh-keys */
export class AddSshKeyDto {
  /** A public key in the format of OpenSSH: one line, as in a file that ends in .pub. */
  @IsString() @IsNotEmpty() @MaxLength(16_384) key!: string;
  /** A name for it. Default: the comment of the key. */
  @Optional() @IsString() @MaxLength(100) name?: string;
}

/** The path of an SSH key. */
export class SshKeyPath {
  /** Its ID. */
  @Matches(/^[0-9a-f]{64}$/, { message: '$property must be the ID of an SSH key.' }) id!: string;
}

/** An SSH public key that the caller has stored. */
export class SshKeyView {
  /** SHA-256 of the key, in hexadecimal digits. */
  @IsString() id!: string;
  /** The caller's name for it. */
  @IsString() name!: string;
  /** Such as `ssh-ed25519`. */
  @IsString() type!: string;
  /** As `ssh-keygen -l` prints it. */
  @IsString() fingerprint!: string;
  /** The key, one line without a comment. */
  @IsString() key!: string;
  /** When it was added, in ISO 8601. */
  @IsISO8601() addedAt!: string;
}
