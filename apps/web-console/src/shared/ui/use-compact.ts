import { useMedia } from './use-media.js';

/** A phone, or a window so low that bars at its edges would leave no room, as with a zoom of 200 %. */
export const useCompact = (): boolean => useMedia('(max-width: 639.98px), (max-height: 560px)');
