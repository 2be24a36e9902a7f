/** The rendered rows of a long list: the visible ones and some around them, so that fast scrolling shows no gaps. */
export interface RowWindow {
  readonly first: number;
  /** One past the last. */
  readonly end: number;
}

/** The style sheet has the same height. */
export const ROW_HEIGHT_PX = 30;
const ROWS_AROUND = 8;
/** The window moves in steps, so that slow scrolling does not render at every row. */
const STEP_ROWS = 4;

/**
 * The number of rendered rows. It is constant: a row that leaves the window on one side is reused on the other, so that
 * the browser changes its texts instead of creating elements.
 * @param visible the number of rows that fit into the table
 */
export const poolSize = (visible: number): number => visible + 2 * ROWS_AROUND + STEP_ROWS;

/** @param top the first visible row */
export function rowWindow(top: number, visible: number, count: number): RowWindow {
  const pool = poolSize(visible);
  const wanted = Math.floor((top - ROWS_AROUND) / STEP_ROWS) * STEP_ROWS;
  const first = Math.max(0, Math.min(wanted, count - pool));
  return { first, end: Math.min(first + pool, count) };
}

/** The scroll position that makes a row fully visible, in pixels; undefined when it already is. */
export function scrollTo(index: number, scrollTop: number, height: number): number | undefined {
  const start = index * ROW_HEIGHT_PX;
  if (start < scrollTop) return start;
  return start + ROW_HEIGHT_PX > scrollTop + height ? start + ROW_HEIGHT_PX - height : undefined;
}
