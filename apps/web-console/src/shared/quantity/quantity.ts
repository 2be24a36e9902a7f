/** Amounts of bytes in Kubernetes notation, as far as users type and read them. */
const QUANTITY = /^(\d+(?:\.\d*)?|\.\d+)(?:([KMGTPE]i)|([kMGTPE])|[eE](\d{1,2}))?$/;
const BINARY = ['Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];
const DECIMAL = ['k', 'M', 'G', 'T', 'P', 'E'];

/** The bytes of `4Gi`, `20G`, `1.5Gi`; NaN for other text. For comparison and display, not for arithmetic. */
export function bytesOf(quantity: string): number {
  const match = QUANTITY.exec(quantity);
  if (!match) return NaN;
  const [, digits = '', binary, decimal, exponent] = match;
  const factor = binary
    ? 1024 ** (BINARY.indexOf(binary) + 1)
    : decimal
      ? 1000 ** (DECIMAL.indexOf(decimal) + 1)
      : 10 ** Number(exponent ?? 0);
  return Number(digits) * factor;
}

/** The problem with a quantity, as a sentence; undefined when the quantity is valid. */
export function quantityProblem(quantity: string): string | undefined {
  const bytes = bytesOf(quantity);
  if (Number.isNaN(bytes)) return 'Enter a number with a unit, such as 4Gi or 512Mi.';
  if (bytes <= 0) return 'Enter more than 0.';
  if (bytes > Number.MAX_SAFE_INTEGER) return 'Enter less than 8Pi.';
  return undefined;
}

/** A short text for tables: `4 GiB`, `1.5 GiB`, and `20 GB` stay exact; uneven amounts are rounded. */
export function readableQuantity(quantity: string): string {
  const bytes = bytesOf(quantity);
  if (Number.isNaN(bytes)) return quantity;
  const written = /^(\d+(?:\.\d+)?)([KMGTPE]i|[kMGTPE])$/.exec(quantity);
  if (written && Number(written[1]) < 1024) return `${written[1]} ${written[2]}B`;
  return readableBytes(bytes);
}

/** With at most one decimal: `4.5 GiB`. */
export function readableBytes(bytes: number): string {
  const power = bytes < 1024 ? 0 : Math.min(Math.floor(Math.log2(bytes) / 10), BINARY.length);
  const value = bytes / 1024 ** power;
  return `${Number(value.toFixed(1))} ${power === 0 ? 'B' : `${BINARY[power - 1]}B`}`;
}
