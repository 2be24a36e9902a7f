import { IsArray, IsBoolean, IsIn, IsInt, IsObject, IsString, Matches, Max, MaxLength, Min } from 'class-validator';
import { IsContextName, Nested, Optional } from './fields.js';

const STATES = ['booted', 'failed'] as const;
const SIGNS = ['agent', 'prompt', 'command'] as const;

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
   * The guest is up when this program exits with 0. Clusters run no programs in guests, and refuse it. Default: when
   * its agent answers, or its serial line has a login prompt.
   */
  @Optional() @IsObject() @Nested(() => ProofCommandDto) command?: ProofCommandDto;
  /** How long the guest may take, in seconds. Default: 300. */
  @Optional() @IsInt() @Min(5) @Max(3600) timeLimitSeconds?: number;
  /**
   * Whether all of the disks is read and compared with its hashes, and not only the parts that the guest reads. A
   * cluster always does, because it boots copies. Default: true.
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

/** A disk of a backup, with its hashes. */
export class ProvedDiskView {
  /** The name of the device. */
  @IsString() name!: string;
  /** Its size in bytes. */
  @IsInt() @Min(0) sizeBytes!: number;
  /** SHA-256 of the IDs of its blocks, in hexadecimal. */
  @IsString() contentId!: string;
  /** SHA-256 of its content, in hexadecimal. Only if all of it was read. */
  @Optional() @IsString() sha256?: string;
}

/** The target of a backup that was booted. */
export class ProvedTargetView {
  /** The ID of the target. */
  @IsString() id!: string;
  /** The name that it had. */
  @IsString() name!: string;
}

/** A backup that was booted. */
export class ProvedPointView {
  /** The ID of its snapshot. */
  @IsString() id!: string;
  /** Its moment, in ISO 8601. */
  @IsString() time!: string;
  /** The hash of everything in it. Absent if that could not be read. */
  @Optional() @IsString() tree?: string;
}

/** The first sign that a guest is up. */
export class BootSignView {
  /** `agent`: its agent has answered. `prompt`: its serial line has a login prompt. `command`: the program has run. */
  @IsIn(SIGNS) kind!: (typeof SIGNS)[number];
  /** The line with the prompt. */
  @Optional() @IsString() text?: string;
  /** The exit status of the program. -1 when a signal has ended it. */
  @Optional() @IsInt() exitCode?: number;
  /** The beginning of the output of the program. */
  @Optional() @IsString() output?: string;
}

/** The picture of the screen that belongs to a certificate. */
export class ProofPictureView {
  /** SHA-256 of its PNG, in hexadecimal. */
  @IsString() sha256!: string;
  /** The size of its PNG in bytes. */
  @IsInt() @Min(0) sizeBytes!: number;
}

/** The service that has signed a certificate. */
export class ProofServiceView {
  /** Its release. */
  @IsString() version!: string;
}

/** Says whether a backup has booted. */
export class ProofCertificateView {
  /** The number of its format. */
  @IsIn([1]) format!: 1;
  /** The kind of the certificate. */
  @IsIn(['headgate-boot-proof']) kind!: 'headgate-boot-proof';
  /** `booted`: the guest came up. `failed`: it did not, or a part of the backup is damaged. */
  @IsIn(STATES) outcome!: (typeof STATES)[number];
  /** One sentence about a boot that has failed. */
  @Optional() @IsString() reason?: string;
  /** The ref that the VM had. */
  @IsString() ref!: string;
  /** The ID that the VM had in its context. */
  @IsString() uid!: string;
  /** The target of the backup. */
  @IsObject() @Nested(() => ProvedTargetView) target!: ProvedTargetView;
  /** The backup. */
  @IsObject() @Nested(() => ProvedPointView) point!: ProvedPointView;
  /** The disks of the backup. */
  @IsArray() @Nested(() => ProvedDiskView, { each: true }) disks!: ProvedDiskView[];
  /** `all`: all of the disks was read and is intact. `booted`: only the parts that the guest has read. */
  @IsIn(['all', 'booted']) verified!: 'all' | 'booted';
  /** The context that has booted it. */
  @IsString() context!: string;
  /** The first sign that the guest was up. */
  @Optional() @IsObject() @Nested(() => BootSignView) seen?: BootSignView;
  /** The time from the start of the guest until the sign, in milliseconds. */
  @Optional() @IsInt() @Min(0) bootMs?: number;
  /** How many bytes of the disks the guest has read. Absent where that is unknown: clusters boot copies. */
  @Optional() @IsInt() @Min(0) readBytes?: number;
  /** When it began, in ISO 8601. */
  @IsString() startedAt!: string;
  /** When it ended, in ISO 8601. */
  @IsString() endedAt!: string;
  /** The picture of the screen at the end. */
  @Optional() @IsObject() @Nested(() => ProofPictureView) picture?: ProofPictureView;
  /** The service that has signed it. */
  @IsObject() @Nested(() => ProofServiceView) service!: ProofServiceView;
}

/** A signed certificate, which `headgate proof verify` verifies without the service. */
export class SignedProofView {
  /** The certificate: the backup, the hashes of its content, the sign of its guest, and the times. */
  @IsObject() @Nested(() => ProofCertificateView) certificate!: ProofCertificateView;
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
