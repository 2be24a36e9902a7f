import { t } from '@lingui/core/macro';
import { Trans } from '@lingui/react/macro';
import { readableNumber } from '../../../../shared/texts/formats.js';
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
        <Trans>
          <kbd>↑</kbd> <kbd>↓</kbd> choose <kbd>Enter</kbd> open or run <kbd>Esc</kbd> close
        </Trans>
      </span>
      <span role="status" className="hg-palette-count">
        {lost !== undefined && t`${lost} is no longer listed. `}
        {countWords(shown, total)}
        {problem !== undefined && <span className="hg-hidden"> {problem}</span>}
      </span>
    </div>
  );
}

function countWords(shown: number, total: number): string {
  if (total > shown) return t`${shown} of ${readableNumber(total)} results`;
  return total === 1 ? '1 result' : t`${total} results`;
}
