import { t } from '@lingui/core/macro';
import { useEffect, useId, useState, type KeyboardEvent } from 'react';
import { useModal } from '../../../../shared/ui/dialog.js';
import { Icon } from '../../../../shared/ui/icon.js';
import { isCommandKey } from '../../../../shared/ui/use-shortcut.js';
import type { PaletteOption } from '../palette-option.js';
import { useActiveOption } from '../use-active-option.js';
import { usePaletteResults } from '../use-palette-results.js';
import { PaletteFooter } from './palette-footer.js';
import { PaletteList } from './palette-list.js';

/**
 * Finds machines, folders, past events, pages, views and commands, and runs actions on machines. The focus stays in the
 * input (an ARIA combobox), and returns to where it was when the palette closes.
 */
export function Palette({ onClose }: { onClose: () => void }) {
  const [text, setText] = useState('');
  const dialog = useModal(onClose);
  const id = useId();
  const { groups, total, problem } = usePaletteResults(text);
  const options = groups.flatMap((group) => group.options);
  const { active, lost, onKey } = useActiveOption(options, text);
  const idOf = ({ key }: PaletteOption): string => `${id}${withoutSpaces(key)}`;
  const activeId = active && idOf(active);

  useEffect(() => {
    if (activeId !== undefined) document.getElementById(activeId)?.scrollIntoView({ block: 'nearest' });
  }, [activeId]);

  const choose = (option: PaletteOption): void => {
    if (option.reason !== undefined) return;
    onClose();
    option.choose();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    // Enter may end the input of a composed letter.
    if (event.nativeEvent.isComposing) return;
    if (isCommandKey(event, 'k')) onClose();
    else if (!(event.target instanceof HTMLInputElement)) return;
    else if (event.key === 'Enter') {
      if (active) choose(active);
    } else if (hasModifier(event) || !onKey(event.key)) return;
    event.preventDefault();
  };

  return (
    <dialog
      ref={dialog}
      className="hg-dialog hg-palette"
      aria-label={t`Search or run a command`}
      onKeyDown={onKeyDown}
      onClick={({ target }) => target === dialog.current && onClose()}
    >
      <div className="hg-palette-head">
        <Icon name="search" />
        <input
          type="text"
          role="combobox"
          data-autofocus
          className="hg-palette-input"
          aria-label={t`Search or run a command`}
          aria-autocomplete="list"
          aria-expanded={options.length > 0}
          aria-controls={id}
          aria-activedescendant={activeId}
          placeholder={t`Name, page, query, or command such as "restart web-01"`}
          autoComplete="off"
          autoCapitalize="off"
          spellCheck={false}
          value={text}
          onChange={({ target }) => setText(target.value)}
        />
        <button type="button" className="hg-icon-button" aria-label={t`Close`} title={t`Close (Esc)`} onClick={onClose}>
          <Icon name="cross" />
        </button>
      </div>
      <PaletteList id={id} groups={groups} text={text} activeId={activeId} idOf={idOf} onChoose={choose} />
      {problem !== undefined && <p className="hg-palette-note">{problem}</p>}
      {options.length === 0 && problem === undefined && (
        <p className="hg-palette-note">{t`Nothing matches this text.`}</p>
      )}
      <PaletteFooter shown={options.length} total={total} lost={lost} problem={problem} />
    </dialog>
  );
}

const hasModifier = ({ ctrlKey, metaKey, altKey, shiftKey }: KeyboardEvent): boolean =>
  ctrlKey || metaKey || altKey || shiftKey;

/** An ID must have no spaces, and different keys need different IDs. */
const withoutSpaces = (key: string): string => key.replace(/[\s%]/g, (space) => `%${space.charCodeAt(0)}.`);
