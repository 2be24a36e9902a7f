import { IsArray, IsBoolean, IsIn, IsInt, IsObject, IsString, Matches, Max, MaxLength, Min } from 'class-validator';
import { IsContextName, Nested, Optional } from './fields.js';

const STATES = ['booted', 'failed'] as const;

/** A program that a guest runs to show that it is up. */
export class ProofCommandDto {
  /** The program: an absolute path, or a name that the agent looks up. No shell interprets it. */
  @Matches(/^[^\p{Cc}]{1,1024}$/u, { message: '$property must be the path of a program.' }) path!: string;
  /** The arguments of the program. Default: none. */
  @Optional() @IsArray() @IsString({ each: true }) @MaxLength(4096, { each: true }) args?: string[];
}

/** POST /api/ext/backups/targets/{target}/points/{point}/prove */
export class ProveBackupDto {
  /** The context that boots the backup. */
  @IsContextName() context!: string;
  /**
   * The guest is up when this program exits with 0. Default: when its agent answers, or its serial line has a login
   * prompt.
   */
  @Optional() @IsObject() @Nested(() => ProofCommandDto) command?: ProofCommandDto;
  /** How long the guest may take, in seconds. Default: 300. */
  @Optional() @IsInt() @Min(5) @Max(3600) timeLimitSeconds?: number;
  /**
   * Whether all of the disks is read and compared with its hashes, and not only the parts that the guest reads.
   * Default: true.
   */
  @Optional() @IsBoolean() readAll?: boolean;
}

/** Whether a backup has booted when that was last tried. */
export class ProofStateView {
  /** `booted`: the guest came up. `failed`: it did not, or a part of the backup is damaged. */
  @IsIn(STATES) state!: (typeof STATES)[number];
  /** The end of the try, in ISO 8601. */
  @IsString() at!: string;
  /** One sentence about one that has failed. */
  @Optional() @IsString() reason?: string;
}

/** The signature of a certificate. */
export class ProofSignatureView {
  /** The algorithm. */
  @IsIn(['Ed25519']) algorithm!: 'Ed25519';
  /** The public key: SPKI, DER, base64. Compare it with the one of the service. */
  @IsString() key!: string;
  /** The signature, base64. */
  @IsString() value!: string;
}

/** A signed certificate, which `headgate proof verify` verifies without the service. */
export class SignedProofView {
  /** The certificate: the backup, the hashes of its content, the sign of its guest, and the times. */
  @IsObject() certificate!: object;
  /** The signature over the certificate. */
  @IsObject() @Nested(() => ProofSignatureView) signature!: ProofSignatureView;
}

/** The key with which this service signs certificates. */
export class ProofKeyView {
  /** The algorithm. */
  @IsIn(['Ed25519']) algorithm!: 'Ed25519';
  /** The public key: SPKI, DER, base64. */
  @IsString() key!: string;
}
