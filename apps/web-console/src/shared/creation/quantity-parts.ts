/** The units to choose from; the binary ones first, because memory and disks use them. */
export const UNITS = ['Mi', 'Gi', 'Ti', 'M', 'G', 'T'] as const;

const WITH_UNIT = /^\s*([\d.]*)\s*([KMGTPE]i?|k)?B?\s*$/;

/** `4Gi` is 4 and Gi. Invalid text stays as it was typed, so that the user can correct it. */
export function splitQuantity(quantity: string): { amount: string; unit: string } {
  const unit = UNITS.find((one) => quantity.endsWith(one)) ?? '';
  return { amount: quantity.slice(0, quantity.length - unit.length), unit: unit || 'Gi' };
}

/** The typed amount with the selected unit, unless it has its own: "512Mi" overrides Gi. */
export function joinQuantity(typed: string, unit: string): string {
  const match = WITH_UNIT.exec(typed);
  const own = UNITS.find((one) => one === match?.[2]);
  return match && own ? `${match[1]}${own}` : `${typed.trim()}${unit}`;
}
