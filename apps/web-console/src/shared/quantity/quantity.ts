import { readableDecimal } from '../texts/formats.js';
import { t } from '@lingui/core/macro';
/** Sizes as users type them and the service writes them. `4G` means the same as `4Gi`. */
const SIZE = /^(\d+(?:\.\d*)?|\.\d+)(?:([KMGTP])i?)?$/;
const UNITS = ['K', 'M', 'G', 'T', 'P'];
const BINARY = UNITS.map((unit) => `${unit}i`);

/** The limits of the service. */
const MIN_BYTES = 1024 ** 2;
const MAX_MEMORY_BYTES = 64 * 1024 ** 4;
const MAX_DISK_BYTES = 1024 ** 5;

/** The bytes of `4Gi`, `4G`, `1.5Gi`; NaN for other text. For comparison and display, not for arithmetic. */
export function bytesOf(quantity: string): number {
  const match = SIZE.exec(quantity);
  if (!match) return NaN;
  const [, digits = '', unit] = match;
  return Number(digits) * 1024 ** (unit === undefined ? 0 : UNITS.indexOf(unit) + 1);
}

/** The problem with an amount of memory, as a sentence; undefined when the service accepts it. */
export const memoryProblem = (quantity: string): string | undefined =>
  sizeProblem(quantity, MAX_MEMORY_BYTES, t`Enter at most 64 TiB.`);

/** The problem with the size of a disk, as a sentence; undefined when the service accepts it. */
export const diskProblem = (quantity: string): string | undefined =>
  sizeProblem(quantity, MAX_DISK_BYTES, t`Enter at most 1 PiB.`);

function sizeProblem(quantity: string, maxBytes: number, tooLarge: string): string | undefined {
  const bytes = bytesOf(quantity);
  if (Number.isNaN(bytes)) return t`Enter a number with a unit, such as 4Gi or 512Mi.`;
  if (bytes < MIN_BYTES) return t`Enter at least 1 MiB.`;
  if (bytes > maxBytes) return tooLarge;
  if (!Number.isInteger(bytes)) return t`Enter a whole number of bytes: use a smaller unit.`;
  return undefined;
}

/** A short text for tables: `4 GiB` and `1.5 GiB` stay exact; uneven amounts are rounded. */
export function readableQuantity(quantity: string): string {
  const bytes = bytesOf(quantity);
  if (Number.isNaN(bytes)) return quantity;
  const written = /^(\d+(?:\.\d+)?)([KMGTP])i?$/.exec(quantity);
  if (written && Number(written[1]) < 1024) return `${readableDecimal(Number(written[1]))} ${written[2]}iB`;
  return readableBytes(bytes);
}

/** With at most one decimal: `4.5 GiB`. */
export function readableBytes(bytes: number): string {
  const power = bytes < 1024 ? 0 : Math.min(Math.floor(Math.log2(bytes) / 10), BINARY.length);
  const value = bytes / 1024 ** power;
  return `${readableDecimal(Number(value.toFixed(1)))} ${power === 0 ? 'B' : `${BINARY[power - 1]}B`}`;
}

/** A quantity in a sentence of the service, and not in a name such as `web-1Gi`. */
const IN_TEXT = /(?<![\w.,/-])\d+(?:\.\d+)?[KMGTP]i(?![\w/-]|\.\w)/g;

/** A sentence of the service with its sizes as everywhere else: `Copy 1Gi of disks` reads `Copy 1 GiB of disks`. */
export const readableSizes = (text: string): string => text.replace(IN_TEXT, readableQuantity);
