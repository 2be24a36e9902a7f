import { DomainError } from './domain-error.js';

/**
 * Quantities in Kubernetes notation, computed with integers only.
 * Source: https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/
 */
const QUANTITY = /^([+-]?)(\d+(?:\.\d*)?|\.\d+)(?:([KMGTPE]i)|([numkMGTPE])|[eE]([+-]?\d{1,3}))?$/;

const BINARY: Record<string, bigint> = { Ki: 1n, Mi: 2n, Gi: 3n, Ti: 4n, Pi: 5n, Ei: 6n };
const DECIMAL: Record<string, number> = { n: -9, u: -6, m: -3, '': 0, k: 3, M: 6, G: 9, T: 12, P: 15, E: 18 };

/** An exact fraction: `numerator / denominator`, both whole. */
interface Fraction {
  readonly numerator: bigint;
  readonly denominator: bigint;
}

/**
 * Bytes of a quantity such as `4Gi`, `20G`, `1.5Gi`, `1e9`. A part of a byte is rounded up, as Kubernetes does.
 * @returns a whole number of bytes, below 2^53
 * @throws DomainError INVALID_QUANTITY when it is no quantity, not positive, or too large
 */
export function parseBytes(text: string, field = 'quantity'): number {
  const bytes = roundUp(parseFraction(text, field));
  if (bytes <= 0n || bytes > BigInt(Number.MAX_SAFE_INTEGER)) {
    throw invalid(text, field, 'must be more than 0 and less than 8Pi');
  }
  return Number(bytes);
}

/**
 * CPU of a quantity such as `2`, `500m`, `0.1`.
 * @returns millicores, rounded up as Kubernetes does
 * @throws DomainError INVALID_QUANTITY
 */
export function parseMillicores(text: string, field = 'cpu'): number {
  const { numerator, denominator } = parseFraction(text, field);
  const milli = roundUp({ numerator: numerator * 1000n, denominator });
  if (milli < 0n || milli > BigInt(Number.MAX_SAFE_INTEGER)) throw invalid(text, field, 'must not be negative');
  return Number(milli);
}

/** Whole bytes as the shortest exact binary quantity: 4294967296 is `4Gi`, 4000000000 is `3906250Ki`, 1000 is `1000`. */
export function formatBytes(bytes: number): string {
  let rest = BigInt(bytes);
  const suffixes = Object.keys(BINARY);
  let power = 0;
  while (rest !== 0n && rest % 1024n === 0n && power < suffixes.length) {
    rest /= 1024n;
    power++;
  }
  return `${rest}${power === 0 ? '' : suffixes[power - 1]}`;
}

/** Whether the text is a quantity of bytes that `parseBytes` takes. */
export function isByteQuantity(text: string): boolean {
  try {
    parseBytes(text);
    return true;
  } catch {
    return false;
  }
}

function parseFraction(text: string, field: string): Fraction {
  const match = QUANTITY.exec(text);
  if (!match) throw invalid(text, field, 'must be a quantity such as 4Gi, 20G or 512Mi');
  const [, sign = '', digits = '', binary, decimal, exponent] = match;
  const [whole = '', part = ''] = digits.split('.');
  const mantissa = BigInt(`${whole}${part}` || '0') * (sign === '-' ? -1n : 1n);
  const power = (exponent === undefined ? (DECIMAL[decimal ?? ''] ?? 0) : Number(exponent)) - part.length;
  const scale = 10n ** BigInt(Math.abs(power));
  const base = binary === undefined ? 1n : 1024n ** (BINARY[binary] ?? 0n);
  return power < 0
    ? { numerator: mantissa * base, denominator: scale }
    : { numerator: mantissa * base * scale, denominator: 1n };
}

function roundUp({ numerator, denominator }: Fraction): bigint {
  const whole = numerator / denominator;
  return numerator > 0n && numerator % denominator !== 0n ? whole + 1n : whole;
}

const invalid = (text: string, field: string, rule: string): DomainError =>
  new DomainError('INVALID_QUANTITY', `${field} ${rule}; "${text.slice(0, 40)}" is not.`);
