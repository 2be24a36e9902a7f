/** What a trust token says about its server. */
export interface TrustToken {
  /** SHA-256 of the certificate of the server, 64 hexadecimal digits. */
  readonly fingerprint: string;
}

/** Reads a token of `incus config trust add` or `lxc config trust add`: JSON in base64. */
export function parseTrustToken(text: string): TrustToken | undefined {
  try {
    const { fingerprint, secret } = JSON.parse(Buffer.from(text, 'base64').toString()) as Record<string, unknown>;
    if (typeof secret !== 'string' || typeof fingerprint !== 'string' || !/^[0-9a-f]{64}$/.test(fingerprint)) return;
    return { fingerprint };
  } catch {
    return undefined;
  }
}
