/** The rendered rows of a long list: the visible ones and some around them, so that fast scrolling shows no gaps. */
export interface RowWindow {
  readonly first: number;
  /** One past the last. */
  readonly end: number;
}

/** The heights of a table, in pixels. The style sheet has the same. */
export interface RowLayout {
  readonly rowPx: number;
  /** Of the sticky head. */
  readonly headPx: number;
}

export const LINES: RowLayout = { rowPx: 30, headPx: 30 };
/** For fingers. */
export const CARDS: RowLayout = { rowPx: 68, headPx: 44 };

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

/**
 * The scroll position that makes a row fully visible, in pixels; undefined when it already is.
 * @param height of the scroller, in pixels
 */
export function scrollTo(
  index: number,
  scrollTop: number,
  height: number,
  { rowPx, headPx }: RowLayout,
): number | undefined {
  const start = index * rowPx;
  if (start < scrollTop) return start;
  const visible = height - headPx;
  return start + rowPx > scrollTop + visible ? start + rowPx - visible : undefined;
}
