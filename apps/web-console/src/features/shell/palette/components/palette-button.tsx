import { t } from '@lingui/core/macro';
import { useState } from 'react';
import { Icon } from '../../../../shared/ui/icon.js';
import { commandKey, useCommandShortcut } from '../../../../shared/ui/use-shortcut.js';
import { useRecordPlaces } from '../use-recent-places.js';
import { Palette } from './palette.js';

/** Opens the palette, as Ctrl+K or Cmd+K does. */
export function PaletteButton() {
  const [isOpen, setIsOpen] = useState(false);
  useRecordPlaces();
  useCommandShortcut('k', () => setIsOpen(true));
  const modifier = commandKey();
  return (
    <>
      <button
        type="button"
        className="hg-palette-button"
        aria-haspopup="dialog"
        aria-keyshortcuts={modifier === 'Ctrl' ? 'Control+K' : 'Meta+K'}
        title={t`Search or run a command (${modifier}+K)`}
        onClick={() => setIsOpen(true)}
      >
        <Icon name="search" />
        <span>{t`Search or run a command`}</span>
        <kbd aria-hidden="true">{`${modifier} K`}</kbd>
      </button>
      {isOpen && <Palette onClose={() => setIsOpen(false)} />}
    </>
  );
}
