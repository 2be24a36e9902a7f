import { argon2, type Argon2Parameters, randomBytes, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { Injectable } from '@nestjs/common';

const argon2id = (parameters: Argon2Parameters): Promise<Buffer> => promisify(argon2)('argon2id', parameters);

/** 19 MiB, two passes, one lane: OWASP's minimum for Argon2id. */
const COST = { memory: 19_456, passes: 2, parallelism: 1, tagLength: 32 };

/** Hashes and verifies passwords with Argon2id, in the PHC string format. */
@Injectable()
export class PasswordHash {
  /** The number of passwords verified since the start. */
  verifications = 0;

  async hash(password: string): Promise<string> {
    const nonce = randomBytes(16);
    const tag = await argon2id({ message: password, nonce, ...COST });
    return `$argon2id$v=19$m=${COST.memory},t=${COST.passes},p=${COST.parallelism}$${b64(nonce)}$${b64(tag)}`;
  }

  /** Takes the same time for an account that does not exist, so that its duration does not reveal which ones do. */
  async verify(password: string, stored: string | undefined): Promise<boolean> {
    this.verifications++;
    const parts = PHC.exec(stored ?? NO_ACCOUNT);
    if (!parts) throw new Error('a stored password hash is invalid');
    const [, memory, passes, parallelism, nonce = '', expected = ''] = parts;
    const tag = Buffer.from(expected, 'base64');
    const found = await argon2id({
      message: password,
      nonce: Buffer.from(nonce, 'base64'),
      memory: Number(memory),
      passes: Number(passes),
      parallelism: Number(parallelism),
      tagLength: tag.length,
    });
    return timingSafeEqual(found, tag) && stored !== undefined;
  }
}

const PHC = /^\$argon2id\$v=19\$m=([0-9]+),t=([0-9]+),p=([0-9]+)\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/;
const b64 = (bytes: Buffer): string => bytes.toString('base64').replace(/=+$/, '');
const NO_ACCOUNT = `$argon2id$v=19$m=${COST.memory},t=${COST.passes},p=${COST.parallelism}$${'A'.repeat(22)}$${'A'.repeat(43)}`;
