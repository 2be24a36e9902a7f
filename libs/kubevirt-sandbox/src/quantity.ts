const UNITS: Record<string, number> = {
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  '': 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
  Ei: 2 ** 60,
};

export const KIB = 2 ** 10;
export const MIB = 2 ** 20;
export const GIB = 2 ** 30;

/** Cached, because clusters use few different quantities, and use them often. */
const known = new Map<string, number>();
const MAX_CACHED = 10_000;

/** A Kubernetes quantity as a number of its base unit (bytes, cores); NaN when it is invalid. */
export function quantityValue(quantity: string | number | undefined): number {
  if (typeof quantity !== 'string') return quantity ?? NaN;
  let value = known.get(quantity);
  if (value === undefined) {
    value = parse(quantity);
    if (known.size < MAX_CACHED) known.set(quantity, value);
  }
  return value;
}

function parse(quantity: string): number {
  const match = /^([+-]?[0-9.]+(?:[eE][+-]?\d+)?)([numkMGTPE]i?|Ki)?$/.exec(quantity);
  const factor = match && UNITS[match[2] ?? ''];
  return match && factor ? Number(match[1]) * factor : NaN;
}

/** Bytes in the largest exact binary unit: 4294967296 is `4Gi`. */
export function binaryQuantity(bytes: number): string {
  for (const unit of ['Ti', 'Gi', 'Mi', 'Ki']) {
    if (bytes > 0 && bytes % UNITS[unit]! === 0) return `${bytes / UNITS[unit]!}${unit}`;
  }
  return String(Math.ceil(bytes));
}
