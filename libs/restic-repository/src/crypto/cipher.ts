import { createCipheriv, randomBytes, timingSafeEqual } from 'node:crypto';
import { DamagedError } from '../model/errors.js';
import { poly1305 } from './poly1305.js';

const NONCE_BYTES = 16;
const TAG_BYTES = 16;
/** How much longer encrypted bytes are than the plain ones. */
export const SEAL_BYTES = NONCE_BYTES + TAG_BYTES;

/** AES-256 for the content, AES-128 and Poly1305 for its authentication. */
export interface RepositoryKey {
  /** 32 bytes. */
  readonly encrypt: Uint8Array;
  /** 16 bytes, the key of AES-128 for the nonce. */
  readonly macK: Uint8Array;
  /** 16 bytes, `r` of Poly1305. */
  readonly macR: Uint8Array;
}

/** Encrypts and authenticates bytes as restic does: nonce, AES-256-CTR, Poly1305-AES over the encrypted bytes. */
export class Cipher {
  constructor(private readonly key: RepositoryKey) {}

  seal(plain: Uint8Array): Buffer {
    const nonce = randomBytes(NONCE_BYTES);
    const sealed = Buffer.allocUnsafeSlow(plain.length + SEAL_BYTES);
    nonce.copy(sealed, 0);
    this.stream(nonce, plain).copy(sealed, NONCE_BYTES);
    sealed.set(this.tagOf(nonce, sealed.subarray(NONCE_BYTES, sealed.length - TAG_BYTES)), sealed.length - TAG_BYTES);
    return sealed;
  }

  /**
   * @param subject the file or blob for the error
   * @throws DamagedError if the bytes are not exactly as `seal` returned them with the same key
   */
  open(sealed: Uint8Array, subject: string): Buffer {
    if (sealed.length < SEAL_BYTES) throw new DamagedError(`${subject} is cut short.`, subject);
    const nonce = sealed.subarray(0, NONCE_BYTES);
    const encrypted = sealed.subarray(NONCE_BYTES, sealed.length - TAG_BYTES);
    const tag = sealed.subarray(sealed.length - TAG_BYTES);
    if (!timingSafeEqual(tag, this.tagOf(nonce, encrypted))) {
      throw new DamagedError(`${subject} is damaged: its authentication code is wrong.`, subject);
    }
    return this.stream(nonce, encrypted);
  }

  private stream(nonce: Uint8Array, bytes: Uint8Array): Buffer {
    return createCipheriv('aes-256-ctr', this.key.encrypt, nonce).update(bytes);
  }

  private tagOf(nonce: Uint8Array, encrypted: Uint8Array): Uint8Array {
    const aes = createCipheriv('aes-128-ecb', this.key.macK, null).setAutoPadding(false);
    return poly1305(encrypted, Buffer.concat([this.key.macR, aes.update(nonce)]));
  }
}
