/** A certificate with its key, both as PEM. */
export interface ChallengeCertificate {
  readonly cert: string;
  readonly key: string;
}

/**
 * The answers to the challenges of running orders, by which an authority checks that a domain leads here. There is none
 * for anything else.
 */
export class ChallengeAnswers {
  private readonly tokens = new Map<string, string>();
  private readonly certificates = new Map<string, ChallengeCertificate>();
  private readonly listeners = new Set<() => void>();

  /** http-01. @param answer the key authorization. @returns removes it */
  addToken(domain: string, token: string, answer: string): () => void {
    const key = `${domain} ${token}`;
    this.tokens.set(key, answer);
    return () => void this.tokens.delete(key);
  }

  /** The text for `/.well-known/acme-challenge/TOKEN` on a domain; undefined for others. */
  answer(domain: string, token: string): string | undefined {
    return this.tokens.get(`${domain.toLowerCase()} ${token}`);
  }

  /** tls-alpn-01. @returns removes it */
  addCertificate(domain: string, certificate: ChallengeCertificate): () => void {
    this.certificates.set(domain, certificate);
    this.report();
    return () => {
      this.certificates.delete(domain);
      this.report();
    };
  }

  certificateFor(domain: string): ChallengeCertificate | undefined {
    return this.certificates.get(domain.toLowerCase());
  }

  /** Whether any challenge waits for a certificate. */
  get hasCertificates(): boolean {
    return this.certificates.size > 0;
  }

  /** Calls back when `hasCertificates` may have changed. */
  onChange(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  private report(): void {
    for (const listener of this.listeners) listener();
  }
}
