import { generateKeyPairSync, sign } from 'node:crypto';
import type { SignedProof } from '@headgate/domain-contracts';
import { ProofSigner, ProofStore, type NewProof } from '../proof-store.js';

/** The certificates of a test. */
export class MemoryProofs extends ProofStore {
  readonly stored: NewProof[] = [];

  get last(): SignedProof {
    const proof = this.stored.at(-1);
    if (!proof) throw new Error('There is no certificate.');
    return proof.document;
  }

  override of(target: string, point: string): SignedProof | undefined {
    return this.stored
      .map(({ document }) => document)
      .findLast(({ certificate }) => certificate.target.id === target && certificate.point.id === point);
  }

  override async put(proof: NewProof): Promise<void> {
    this.stored.push(proof);
  }

  override async picture(): Promise<Buffer | undefined> {
    return this.stored.at(-1)?.picture;
  }
}

/** A new key for each test. */
export class MemorySigner extends ProofSigner {
  private readonly keys = generateKeyPairSync('ed25519');

  override async publicKey(): Promise<string> {
    return this.keys.publicKey.export({ type: 'spki', format: 'der' }).toString('base64');
  }

  override async signatureOf(message: Uint8Array): Promise<string> {
    return sign(null, message, this.keys.privateKey).toString('base64');
  }
}
