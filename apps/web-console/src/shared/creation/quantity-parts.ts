/** Units to choose from; the first ones count in 1024s, as memory and disks do. */
export const UNITS = ['Mi', 'Gi', 'Ti', 'M', 'G', 'T'] as const;

const WITH_UNIT = /^\s*([\d.]*)\s*([KMGTPE]i?|k)?B?\s*$/;

/** `4Gi` is 4 and Gi. What can't be read stays as it was typed, so that it can be corrected. */
export function splitQuantity(quantity: string): { amount: string; unit: string } {
  const unit = UNITS.find((one) => quantity.endsWith(one)) ?? '';
  return { amount: quantity.slice(0, quantity.length - unit.length), unit: unit || 'Gi' };
}

/** What was typed with the unit beside it, unless it brings its own: «512Mi» wins over Gi. */
export function joinQuantity(typed: string, unit: string): string {
  const match = WITH_UNIT.exec(typed);
  const own = UNITS.find((one) => one === match?.[2]);
  return match && own ? `${match[1]}${own}` : `${typed.trim()}${unit}`;
}
