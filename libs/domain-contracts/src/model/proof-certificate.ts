import type { BootSign } from './boot-sign.js';

export interface ProvedDisk {
  readonly name: string;
  readonly sizeBytes: number;
  /** SHA-256 of the IDs of its blocks, in hexadecimal. */
  readonly contentId: string;
  /** SHA-256 of its content, in hexadecimal. Only if all of it was read. */
  readonly sha256?: string;
}

/** Says whether a backup has booted. */
export interface ProofCertificate {
  readonly format: 1;
  readonly kind: 'headgate-boot-proof';
  readonly outcome: 'booted' | 'failed';
  /** One sentence. Only of a failed one. */
  readonly reason?: string;
  /** As text. */
  readonly ref: string;
  /** The backend's ID of the VM. */
  readonly uid: string;
  readonly target: { readonly id: string; readonly name: string };
  /** `id` is the one of the snapshot, `tree` the hash of everything in it. Without a tree if that could not be read. */
  readonly point: { readonly id: string; readonly time: string; readonly tree?: string };
  readonly disks: readonly ProvedDisk[];
  /** `all`: all disks were read and have matched their hashes. `booted`: only the parts that the guest has read. */
  readonly verified: 'all' | 'booted';
  /** The context that has booted it. */
  readonly context: string;
  readonly seen?: BootSign;
  readonly bootMs?: number;
  /** Read from the disks by the guest. Absent where that is unknown: a cluster boots copies. */
  readonly readBytes?: number;
  /** ISO 8601. */
  readonly startedAt: string;
  readonly endedAt: string;
  /** The picture of the screen, which is stored next to the certificate. SHA-256 in hexadecimal. */
  readonly picture?: { readonly sha256: string; readonly sizeBytes: number };
  readonly service: { readonly version: string };
}

/** A certificate with its signature over `proofMessage`. */
export interface SignedProof {
  readonly certificate: ProofCertificate;
  readonly signature: {
    readonly algorithm: 'Ed25519';
    /** The public key of the service: SPKI, DER, base64. */
    readonly key: string;
    /** base64 */
    readonly value: string;
  };
}
