interface PaletteFooterProps {
  shown: number;
  total: number;
  lost: string | undefined;
  problem: string | undefined;
}

/** The keys, and how many results there are. Screen readers announce the number. */
export function PaletteFooter({ shown, total, lost, problem }: PaletteFooterProps) {
  return (
    <div className="hg-palette-foot">
      <span className="hg-palette-keys" aria-hidden="true">
        <kbd>↑</kbd> <kbd>↓</kbd> choose <kbd>Enter</kbd> open or run <kbd>Esc</kbd> close
      </span>
      <span role="status" className="hg-palette-count">
        {lost !== undefined && `${lost} is no longer listed. `}
        {countWords(shown, total)}
        {problem !== undefined && <span className="hg-hidden"> {problem}</span>}
      </span>
    </div>
  );
}

function countWords(shown: number, total: number): string {
  if (total > shown) return `${shown} of ${total.toLocaleString('en')} results`;
  return total === 1 ? '1 result' : `${total} results`;
}
