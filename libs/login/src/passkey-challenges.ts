import { randomBytes } from 'node:crypto';
import { DomainError, type Clock } from '@headgate/domain-contracts';
import type { LoginKeys } from './login-keys.js';
import { SealedTexts } from './sealed-texts.js';

/** How long a user may take with the authenticator. */
export const CHALLENGE_SECONDS = 300;
const CHALLENGE_BYTES = 32;
const MAX_USED = 10_000;

/** A challenge for an authenticator, in Base64url, and the text that the browser brings back with the answer. */
export interface NewChallenge {
  readonly challenge: string;
  readonly sealed: string;
}

interface Sealed {
  readonly challenge: string;
  readonly purpose: string;
  readonly expiresAt: number;
}

/**
 * Challenges for authenticators. They are sealed in a cookie, so that they are bound to the browser and take no memory
 * here. Each can be used once in a process. Replicas with the same keys open those of each other.
 */
export class PasskeyChallenges {
  private readonly texts: SealedTexts<Sealed>;
  /** The challenges that were used, with their ends. Only right answers get here, so that guesses can't fill it. */
  private readonly used = new Map<string, number>();

  constructor(
    private readonly clock: Clock,
    keys: LoginKeys,
  ) {
    this.texts = new SealedTexts(keys.of('passkey challenge'));
  }

  /** @param purpose such as the login, or the session that adds a passkey */
  create(purpose: string): NewChallenge {
    const challenge = randomBytes(CHALLENGE_BYTES).toString('base64url');
    const expiresAt = this.clock.now() + CHALLENGE_SECONDS * 1000;
    return { challenge, sealed: this.texts.seal({ challenge, purpose, expiresAt }) };
  }

  /** The challenge of a text that `create` has sealed. @throws DomainError LOGIN_FAILED if it can't be used */
  open(sealed: string | undefined, purpose: string): string {
    const { challenge, expiresAt } = this.unseal(sealed ?? '', purpose);
    if (expiresAt <= this.clock.now() || this.used.has(challenge)) throw expired();
    return challenge;
  }

  /** Records that a challenge was answered. @throws DomainError LOGIN_FAILED if another request was first */
  use(challenge: string): void {
    const now = this.clock.now();
    for (const [old, end] of this.used) if (end <= now || this.used.size >= MAX_USED) this.used.delete(old);
    if (this.used.has(challenge)) throw expired();
    this.used.set(challenge, now + CHALLENGE_SECONDS * 1000);
  }

  private unseal(sealed: string, purpose: string): Sealed {
    try {
      const opened = this.texts.unseal(sealed);
      if (opened.purpose === purpose) return opened;
    } catch {
      // A text that is not ours is like one of another browser.
    }
    throw expired();
  }
}

const expired = (): DomainError =>
  new DomainError('LOGIN_FAILED', 'The request took too long, or was begun in another window. Try again.');
