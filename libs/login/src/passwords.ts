import { argon2, randomBytes, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { DomainError } from '@headgate/domain-contracts';

export const MIN_PASSWORD_CHARS = 12;
export const MAX_PASSWORD_CHARS = 1024;

/** The parameters that OWASP recommends for argon2id. Source: Password Storage Cheat Sheet. */
const COSTS = { memory: 19_456, passes: 2, parallelism: 1, tagLength: 32 };
const SALT_BYTES = 16;
const PHC = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/;
/** Each hash takes a processor and 19 MiB. */
const MAX_AT_ONCE = 2;
const MAX_WAITING = 30;

const derive = promisify(argon2);

/** Hashes and checks passwords with argon2id, few at a time. */
export class Passwords {
  /** The number of passwords that were hashed or checked, each with the same work. */
  hashed = 0;
  private running = 0;
  private readonly waiting: (() => void)[] = [];
  /** Checked for unknown accounts. No password has this hash. */
  private readonly noHash = format(randomBytes(SALT_BYTES), randomBytes(COSTS.tagLength));

  /** @returns a PHC string @throws DomainError INVALID_INPUT for a password that is too short; TOO_MANY_LOGINS */
  async hash(password: string): Promise<string> {
    if ([...password].length < MIN_PASSWORD_CHARS)
      throw new DomainError('INVALID_INPUT', `password must have at least ${MIN_PASSWORD_CHARS} characters.`);
    const salt = randomBytes(SALT_BYTES);
    return format(salt, await this.derive(password, salt, COSTS));
  }

  /**
   * Whether a password is right. Takes as long without a hash, which an unknown account has not.
   * @throws DomainError TOO_MANY_LOGINS
   */
  async matches(password: string, hash: string | undefined): Promise<boolean> {
    const [, memory, passes, parallelism, salt = '', tag = ''] = PHC.exec(hash ?? this.noHash) ?? [];
    const expected = Buffer.from(tag, 'base64');
    const costs = {
      memory: Number(memory),
      passes: Number(passes),
      parallelism: Number(parallelism),
      tagLength: expected.length,
    };
    const found = await this.derive(password, Buffer.from(salt, 'base64'), costs);
    return timingSafeEqual(found, expected) && hash !== undefined;
  }

  private async derive(password: string, nonce: Buffer, costs: typeof COSTS): Promise<Buffer> {
    await this.takeTurn();
    try {
      this.hashed++;
      // Two ways to type the same character give the same password. Source: RFC 8265.
      return await derive('argon2id', { message: password.normalize('NFC'), nonce, ...costs });
    } finally {
      const next = this.waiting.shift();
      if (next) next();
      else this.running--;
    }
  }

  private async takeTurn(): Promise<void> {
    if (this.running < MAX_AT_ONCE) {
      this.running++;
      return;
    }
    if (this.waiting.length >= MAX_WAITING)
      throw new DomainError('TOO_MANY_LOGINS', 'Too many users log in at the same time. Try again in a moment.');
    // The one that ends hands its turn over.
    await new Promise<void>((resolve) => this.waiting.push(resolve));
  }
}

const base64 = (bytes: Buffer): string => bytes.toString('base64').replace(/=+$/, '');

/** Source: the PHC string format. */
const format = (salt: Buffer, tag: Buffer): string =>
  `$argon2id$v=19$m=${COSTS.memory},t=${COSTS.passes},p=${COSTS.parallelism}$${base64(salt)}$${base64(tag)}`;
