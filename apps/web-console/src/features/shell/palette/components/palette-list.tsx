import { t } from '@lingui/core/macro';
import type { PaletteGroup, PaletteOption } from '../palette-option.js';
import { PaletteItem } from './palette-item.js';

interface PaletteListProps {
  id: string;
  groups: readonly PaletteGroup[];
  text: string;
  activeId: string | undefined;
  idOf: (option: PaletteOption) => string;
  onChoose: (option: PaletteOption) => void;
}

/** The results in their groups. */
export function PaletteList({ id, groups, text, activeId, idOf, onChoose }: PaletteListProps) {
  if (groups.length === 0) return null;
  return (
    // The focus stays in the input.
    <div
      id={id}
      role="listbox"
      aria-label={t`Results`}
      className="hg-palette-list"
      onMouseDown={(event) => event.preventDefault()}
    >
      {groups.map(({ title, options }) => (
        <div key={title} role="group" aria-labelledby={`${id}-${title}`}>
          <div id={`${id}-${title}`} role="presentation" className="hg-palette-title">
            {title}
          </div>
          {options.map((option) => (
            <PaletteItem
              key={option.key}
              id={idOf(option)}
              option={option}
              text={text}
              isActive={idOf(option) === activeId}
              onChoose={onChoose}
            />
          ))}
        </div>
      ))}
    </div>
  );
}
