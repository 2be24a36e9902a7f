/** The units to choose from. */
export const UNITS = ['Mi', 'Gi', 'Ti'] as const;

const WITH_UNIT = /^\s*([\d.]*)\s*([KMGTP])?i?B?\s*$/;

/** `4Gi` is 4 and Gi. Invalid text stays as it was typed, so that the user can correct it. */
export function splitQuantity(quantity: string): { amount: string; unit: string } {
  const unit = /[KMGTP]i?$/.exec(quantity)?.[0] ?? '';
  const known = UNITS.find((one) => one[0] === unit[0]);
  return known
    ? { amount: quantity.slice(0, quantity.length - unit.length), unit: known }
    : { amount: quantity, unit: 'Gi' };
}

/** The typed amount with the selected unit, unless it has its own: "512Mi" overrides Gi. */
export function joinQuantity(typed: string, unit: string): string {
  const match = WITH_UNIT.exec(typed);
  const own = UNITS.find((one) => one[0] === match?.[2]);
  return match && own ? `${match[1]}${own}` : `${typed.trim()}${unit}`;
}
