import { proofMessage, type ProofCertificate, type SignedProof } from '@headgate/domain-contracts';

export interface NewProof {
  readonly document: SignedProof;
  /** PNG. */
  readonly picture?: Buffer;
}

/** Stores the newest certificate of each point. The oldest are dropped when there are too many. */
export abstract class ProofStore {
  /** @returns undefined for a point that was never booted */
  abstract of(target: string, point: string): SignedProof | undefined;
  /** Takes the place of the former one of its point. */
  abstract put(proof: NewProof): Promise<void>;
  /** @returns undefined if the picture does not exist, or is not the one of the certificate */
  abstract picture(target: string, point: string): Promise<Buffer | undefined>;
}

/** The key of this installation, with which certificates are signed. */
export abstract class ProofSigner {
  /** SPKI, DER, base64. */
  abstract publicKey(): Promise<string>;
  /** @returns base64 */
  abstract signatureOf(message: Uint8Array): Promise<string>;

  async sign(certificate: ProofCertificate): Promise<SignedProof> {
    const [key, value] = await Promise.all([this.publicKey(), this.signatureOf(proofMessage(certificate))]);
    return { certificate, signature: { algorithm: 'Ed25519', key, value } };
  }
}

/** The state of a point in lists. A point without one was never booted. */
export interface ProofState {
  readonly state: 'booted' | 'failed';
  /** ISO 8601. */
  readonly at: string;
  readonly reason?: string;
}

export const proofStateOf = ({ certificate }: SignedProof): ProofState => ({
  state: certificate.outcome,
  at: certificate.endedAt,
  ...(certificate.reason !== undefined && { reason: certificate.reason }),
});
