import type { Clock } from '@headgate/domain-contracts';
import type { LoginKeys } from './login-keys.js';
import { ProviderError } from './provider-error.js';
import { SealedTexts } from './sealed-texts.js';

/** A login at a provider that a browser has begun. */
export interface Progress {
  readonly provider: string;
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
  /** The page to return to, as a path behind the `#`. */
  readonly returnTo: string;
}

/** How long a user may take at the provider. */
export const PROGRESS_SECONDS = 600;
const MAX_USED = 10_000;

/**
 * Seals logins in progress for a cookie, so that they are bound to the browser and take no memory here. Each can be
 * used once in a process. Replicas with the same keys open those of each other; there, the provider accepts its code
 * once.
 */
export class LoginProgress {
  private readonly texts: SealedTexts<Progress & { readonly expiresAt: number }>;
  /** The states that were used, with their ends. */
  private readonly used = new Map<string, number>();

  constructor(
    private readonly clock: Clock,
    keys: LoginKeys,
  ) {
    this.texts = new SealedTexts(keys.of('progress of a login'));
  }

  seal(progress: Progress): string {
    return this.texts.seal({ ...progress, expiresAt: this.clock.now() + PROGRESS_SECONDS * 1000 });
  }

  /** @throws ProviderError for one that is not ours, is too old, was used, or is of another provider or request */
  take(text: string | undefined, provider: string, state: unknown): Progress {
    const { expiresAt, ...progress } = this.unseal(text ?? '');
    const now = this.clock.now();
    if (expiresAt <= now) throw new ProviderError('expired', 'the login was begun too long ago');
    if (progress.provider !== provider)
      throw new ProviderError('expired', `the login was begun at ${progress.provider}, not at ${provider}`);
    if (progress.state !== state) throw new ProviderError('expired', 'the state is of another login');
    for (const [old, end] of this.used) if (end <= now || this.used.size >= MAX_USED) this.used.delete(old);
    if (this.used.has(progress.state)) throw new ProviderError('expired', 'the state was already used');
    this.used.set(progress.state, expiresAt);
    return progress;
  }

  private unseal(text: string): Progress & { readonly expiresAt: number } {
    try {
      return this.texts.unseal(text);
    } catch (error) {
      throw new ProviderError('expired', 'no login was begun in this browser', { cause: error });
    }
  }
}
