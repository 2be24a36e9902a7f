const PAGE_ROWS = 20;

/** The row that a key moves to; undefined for other keys. */
export function moveActive(key: string, active: number, count: number): number | undefined {
  if (count === 0) return undefined;
  const clamp = (index: number): number => Math.max(0, Math.min(count - 1, index));
  switch (key) {
    case 'ArrowDown':
      return clamp(active + 1);
    case 'ArrowUp':
      return clamp(active - 1);
    case 'PageDown':
      return clamp(active + PAGE_ROWS);
    case 'PageUp':
      return clamp(active - PAGE_ROWS);
    case 'Home':
      return 0;
    case 'End':
      return count - 1;
    default:
      return undefined;
  }
}
