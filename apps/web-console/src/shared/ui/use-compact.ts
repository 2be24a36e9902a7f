import { useMedia } from './use-media.js';

/** A window as narrow as a phone, in which lists are cards. */
export const usePhone = (): boolean => useMedia('(max-width: 639.98px)');

/** A phone held upright, which has room for a bar at its bottom edge. */
export const useBottomBar = (): boolean => useMedia('(max-width: 639.98px) and (min-height: 560.02px)');

/** A phone, or a window so low that bars at its edges would leave no room, as with a zoom of 200 %. */
export const useCompact = (): boolean => useMedia('(max-width: 639.98px), (max-height: 560px)');
