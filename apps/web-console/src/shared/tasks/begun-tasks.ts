/** Tasks that this page began: how they end is told to whoever began them, wherever he is by then. */
const begun = new Set<string>();

export const beginTask = (id: string): void => void begun.add(id);
export const begunHere = (id: string): boolean => begun.has(id);
/** True once for each. */
export const wasTold = (id: string): boolean => begun.delete(id);
