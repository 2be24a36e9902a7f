export const MASK = '***';

/** Literals shorter than this occur in ordinary words. */
const MIN_SECRET_CHARS = 4;

/** Quantifiers are bounded: a line of 4,096 equal characters must not take quadratic time. */
const SECRET_NAME = String.raw`(?:(?:passw(?:or)?d|passphrase|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|signature|credential)[\w-]{0,40}|\b(?:pwd|sig)\b)`;
const VALUE = String.raw`(?:"[^"]*"|'[^']*'|[^\s"',;&]+)`;

const PATTERNS: readonly (readonly [RegExp, string])[] = [
  // https://user:password@host
  [/([a-z][a-z\d+.-]{1,20}:\/\/)[^\s/@]+@/gi, `$1${MASK}@`],
  [
    /\b((?:proxy-)?authorization["']?\s{0,9}[:=]\s{0,9}["']?)(?:(?:basic|bearer|digest|negotiate)\s+)?[^\s"',;]+/gi,
    `$1${MASK}`,
  ],
  [/\b(bearer\s{1,9})[\w.~+/-]{8,}=*/gi, `$1${MASK}`],
  // --secret x
  [new RegExp(`(--[\\w-]{0,40}${SECRET_NAME}\\s{1,9})${VALUE}`, 'gi'), `$1${MASK}`],
  // password=x, "token": "x", X-Amz-Signature=x
  [new RegExp(`(${SECRET_NAME}["']?\\s{0,9}[:=]\\s{0,9})${VALUE}`, 'gi'), `$1${MASK}`],
  // JSON web tokens, and keys of GitHub, GitLab and AWS
  [/(?<![\w-])eyJ[\w-]{5,}\.[\w-]{5,}\.[\w-]*/g, MASK],
  [/\b(?:gh[opsur]_\w{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}|AKIA[A-Z\d]{16})\b/g, MASK],
];

const KEY_BEGIN = /-----BEGIN [A-Z ]*PRIVATE KEY-----/;
const KEY_END = /-----END [A-Z ]*PRIVATE KEY-----/;

/**
 * Masks secrets in the lines of one task: known patterns, private keys over several lines, and the texts that the task
 * registers.
 */
export class SecretMask {
  private readonly secrets = new Set<string>();
  private isInKey = false;

  add(secret: string): void {
    if (secret.length >= MIN_SECRET_CHARS) this.secrets.add(secret);
  }

  /** @returns undefined for a line inside a private key */
  line(text: string): string | undefined {
    if (this.isInKey) {
      this.isInKey = !KEY_END.test(text);
      return undefined;
    }
    const begin = KEY_BEGIN.exec(text);
    if (!begin) return this.text(text);
    this.isInKey = !KEY_END.test(text);
    return `${this.text(text.slice(0, begin.index))}${begin[0]} ${MASK}`;
  }

  text(text: string): string {
    let masked = text;
    for (const secret of this.secrets) masked = masked.replaceAll(secret, MASK);
    for (const [pattern, replacement] of PATTERNS) masked = masked.replace(pattern, replacement);
    return masked;
  }
}
