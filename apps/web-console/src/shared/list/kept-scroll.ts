/** Where each list was left, by its address: who comes back from an instance finds his place again. */
const kept = new Map<string, number>();

export const keepScroll = (address: string, scrollTop: number): void => void kept.set(address, scrollTop);
export const recallScroll = (address: string): number => kept.get(address) ?? 0;
