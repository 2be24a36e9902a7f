/** Which rows of a long list are drawn: those in sight and some around them, so that quick scrolling shows no gaps. */
export interface RowWindow {
  readonly first: number;
  /** One past the last. */
  readonly end: number;
}

/** In pixels; the style sheet has the same. */
export const ROW_HEIGHT = 36;
const AROUND = 8;
/** The window moves in steps: a slow scroll then draws every few rows instead of at each one. */
const STEP = 4;

/**
 * How many rows are drawn. Always as many: one that leaves the window on one side is used again on the other, so that the
 * browser changes its texts instead of building it anew.
 * @param inSight how many rows the table has room for
 */
export const poolSize = (inSight: number): number => inSight + 2 * AROUND + STEP;

/** @param top the first row in sight */
export function rowWindow(top: number, inSight: number, count: number): RowWindow {
  const pool = poolSize(inSight);
  const wanted = Math.floor((top - AROUND) / STEP) * STEP;
  const first = Math.max(0, Math.min(wanted, count - pool));
  return { first, end: Math.min(first + pool, count) };
}

/** Where to scroll so that a row is wholly in sight; undefined when it is. In pixels. */
export function scrollTo(index: number, scrollTop: number, height: number): number | undefined {
  const start = index * ROW_HEIGHT;
  if (start < scrollTop) return start;
  return start + ROW_HEIGHT > scrollTop + height ? start + ROW_HEIGHT - height : undefined;
}
