import { DomainError } from './domain-error.js';

/** Amounts of bytes and CPU as text, computed with integers only. */

/** Kubernetes notation. Source: https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/ */
const KUBERNETES = /^([+-]?)(\d+(?:\.\d*)?|\.\d+)(?:([KMGTPE]i)|([numkMGTPE])|[eE]([+-]?\d{1,3}))?$/;
/** The notation of this API: `4G` means the same as `4Gi`, as in QEMU and Proxmox. Source: the API contract. */
const SIZE = /^(\d+(?:\.\d*)?|\.\d+)(?:([KMGTP])i?)?$/;

const BINARY_POWERS: Record<string, bigint> = { K: 1n, M: 2n, G: 3n, T: 4n, P: 5n, E: 6n };
const DECIMAL_POWERS: Record<string, number> = { n: -9, u: -6, m: -3, '': 0, k: 3, M: 6, G: 9, T: 12, P: 15, E: 18 };
const MIB = 1024 ** 2;
/** Longer texts are no amounts, and would only keep the arithmetic busy. */
const MAX_TEXT_LENGTH = 40;

/** The limits of one field, in bytes. */
export interface SizeRule {
  readonly minBytes: number;
  readonly maxBytes: number;
  /** Sizes are rounded up to a multiple of this. */
  readonly stepBytes: number;
}

/** KubeVirt refuses memory that is not a multiple of 2 MiB. */
export const MEMORY_RULE: SizeRule = { minBytes: MIB, maxBytes: 64 * 1024 ** 4, stepBytes: 2 * MIB };
export const DISK_RULE: SizeRule = { minBytes: MIB, maxBytes: 1024 ** 5, stepBytes: MIB };

/** An exact fraction: `numerator / denominator`, both whole. */
interface Fraction {
  readonly numerator: bigint;
  readonly denominator: bigint;
}

/** @throws DomainError INVALID_QUANTITY, naming the field */
export const parseMemory = (text: string, field = 'mem'): number => parseSize(text, MEMORY_RULE, field);

/** @throws DomainError INVALID_QUANTITY, naming the field */
export const parseDiskSize = (text: string, field = 'disk'): number => parseSize(text, DISK_RULE, field);

/**
 * Bytes of a size such as `4Gi`, `4G`, `1.5Gi` or `1073741824`, rounded up to the step of the rule.
 * @throws DomainError INVALID_QUANTITY for other text, a fraction of a byte, or a size outside of the limits
 */
export function parseSize(text: string, { minBytes, maxBytes, stepBytes }: SizeRule, field: string): number {
  const bytes = exactBytes(text);
  if (bytes === undefined || bytes < BigInt(minBytes) || bytes > BigInt(maxBytes)) {
    const limits = `from ${formatBytes(minBytes)} to ${formatBytes(maxBytes)}`;
    throw invalid(text, field, `must be a size such as 4Gi or 512Mi, ${limits}`);
  }
  const step = BigInt(stepBytes);
  return Number(((bytes + step - 1n) / step) * step);
}

export const isMemorySize = (text: string): boolean => isAccepted(() => parseMemory(text));
export const isDiskSize = (text: string): boolean => isAccepted(() => parseDiskSize(text));

/**
 * Whole bytes in the largest binary unit that is exact: 4294967296 is `4Gi`, 4000000000 is `3906250Ki`, 1000 is `1000`.
 */
export function formatBytes(bytes: number): string {
  let rest = BigInt(bytes);
  const units = Object.keys(BINARY_POWERS);
  let power = 0;
  while (rest !== 0n && rest % 1024n === 0n && power < units.length) {
    rest /= 1024n;
    power++;
  }
  return `${rest}${power === 0 ? '' : `${units[power - 1]}i`}`;
}

/**
 * Bytes of a quantity in a Kubernetes object, where `20G` is decimal. A fraction of a byte is rounded up, as Kubernetes
 * does.
 * @returns a whole number of bytes, below 2^53
 * @throws DomainError INVALID_QUANTITY when it is no quantity, not positive, or too large
 */
export function parseKubernetesBytes(text: string, field = 'quantity'): number {
  const bytes = roundUp(parseFraction(text, field));
  if (bytes <= 0n || bytes > BigInt(Number.MAX_SAFE_INTEGER)) {
    throw invalid(text, field, 'must be more than 0 and less than 8Pi');
  }
  return Number(bytes);
}

/**
 * CPU of a Kubernetes quantity such as `2`, `500m`, `0.1`.
 * @returns millicores, rounded up as Kubernetes does
 * @throws DomainError INVALID_QUANTITY
 */
export function parseMillicores(text: string, field = 'cpu'): number {
  const { numerator, denominator } = parseFraction(text, field);
  const milli = roundUp({ numerator: numerator * 1000n, denominator });
  if (milli < 0n || milli > BigInt(Number.MAX_SAFE_INTEGER)) throw invalid(text, field, 'must not be negative');
  return Number(milli);
}

/** Undefined when the text is no size, or not a whole number of bytes. */
function exactBytes(text: string): bigint | undefined {
  const match = text.length <= MAX_TEXT_LENGTH ? SIZE.exec(text) : null;
  if (!match) return undefined;
  const [, digits = '', unit] = match;
  const { mantissa, decimals } = readDecimal(digits);
  const numerator = mantissa * 1024n ** (unit === undefined ? 0n : (BINARY_POWERS[unit] ?? 0n));
  const denominator = 10n ** BigInt(decimals);
  return numerator % denominator === 0n ? numerator / denominator : undefined;
}

function isAccepted(parse: () => number): boolean {
  try {
    parse();
    return true;
  } catch {
    return false;
  }
}

function parseFraction(text: string, field: string): Fraction {
  const match = text.length <= MAX_TEXT_LENGTH ? KUBERNETES.exec(text) : null;
  if (!match) throw invalid(text, field, 'must be a quantity such as 4Gi, 20G or 512Mi');
  const [, sign = '', digits = '', binary, decimal, exponent] = match;
  const { mantissa, decimals } = readDecimal(digits);
  const signed = sign === '-' ? -mantissa : mantissa;
  const power = (exponent === undefined ? (DECIMAL_POWERS[decimal ?? ''] ?? 0) : Number(exponent)) - decimals;
  const scale = 10n ** BigInt(Math.abs(power));
  const base = binary === undefined ? 1n : 1024n ** (BINARY_POWERS[binary[0] ?? ''] ?? 0n);
  return power < 0
    ? { numerator: signed * base, denominator: scale }
    : { numerator: signed * base * scale, denominator: 1n };
}

/** `1.50` is 150 with two decimals. */
function readDecimal(digits: string): { mantissa: bigint; decimals: number } {
  const [whole = '', fraction = ''] = digits.split('.');
  return { mantissa: BigInt(`${whole}${fraction}` || '0'), decimals: fraction.length };
}

function roundUp({ numerator, denominator }: Fraction): bigint {
  const whole = numerator / denominator;
  return numerator > 0n && numerator % denominator !== 0n ? whole + 1n : whole;
}

const invalid = (text: string, field: string, rule: string): DomainError =>
  new DomainError('INVALID_QUANTITY', `${field} ${rule}; "${text.slice(0, MAX_TEXT_LENGTH)}" is not.`);
