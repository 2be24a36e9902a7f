/** The scroll position of each list by its address, for the way back from an instance. */
const positions = new Map<string, number>();

export const rememberScroll = (address: string, scrollTop: number): void => void positions.set(address, scrollTop);
export const rememberedScroll = (address: string): number => positions.get(address) ?? 0;
