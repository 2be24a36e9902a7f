import { timingSafeEqual } from 'node:crypto';
import { digest } from '@headgate/homeserver-contracts';

/** Tokens by the names of those who have them. */
export type NamedTokens = Readonly<Record<string, string>>;

/** Finds the name of a token in a time that depends neither on the token nor on the names. */
export class TokenNames {
  private readonly tokens: readonly (readonly [name: string, digest: Buffer])[];

  constructor(tokens: NamedTokens) {
    this.tokens = Object.entries(tokens).map(([name, token]) => [name, Buffer.from(digest(token))]);
  }

  get isEmpty(): boolean {
    return this.tokens.length === 0;
  }

  nameOf(token: string): string | undefined {
    const given = Buffer.from(digest(token));
    // Digests have the same length, so the comparison takes the same time for every token; and all are compared.
    return this.tokens.filter(([, known]) => timingSafeEqual(given, known))[0]?.[0];
  }
}
