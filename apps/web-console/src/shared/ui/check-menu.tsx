import { inSentence } from '../texts/in-sentence.js';
import { t } from '@lingui/core/macro';
import { useState, type ReactNode } from 'react';
import { Data } from './data.js';
import { Dropdown } from './dropdown.js';
import { SearchInput } from './inputs.js';
import { readableNumber } from '../texts/formats.js';

interface CheckMenuProps {
  label: string;
  icon?: ReactNode;
  /** Called when the menu opens. */
  options: () => readonly { readonly value: string; readonly label?: string; readonly count?: number }[];
  chosen: readonly string[];
  onChange: (chosen: string[]) => void;
  /** A command below the options that restores the default. */
  reset?: { readonly label: string; readonly run: () => void };
  /** Whether the button shows the number of chosen options. */
  hasCount?: boolean;
}

/** From this number of options on, the menu has a search box. */
const SEARCH_FROM = 12;
/** Drawing thousands of options takes time and helps no one; the search finds the others. */
const MAX_LISTED = 100;

/** A menu of check boxes, used for filters and for the choice of columns. */
export function CheckMenu({ hasCount = true, ...props }: CheckMenuProps) {
  const { label, icon, chosen } = props;
  const text = (
    <>
      <span className="hg-dropdown-label">{label}</span>
      {hasCount && chosen.length > 0 && <span className="hg-pill">{chosen.length}</span>}
    </>
  );
  return (
    <Dropdown
      label={text}
      icon={icon}
      className={hasCount ? '' : 'hg-dropdown--compact'}
      popup="dialog"
      panelLabel={label}
    >
      <Options {...props} />
    </Dropdown>
  );
}

function Options({ label, options, chosen, onChange, reset }: Omit<CheckMenuProps, 'hasCount'>) {
  const [search, setSearch] = useState('');
  const all = options();
  const found = all.filter(({ value, label: text = value }) => text.toLowerCase().includes(search.toLowerCase()));
  const toggle = (value: string): void =>
    onChange(chosen.includes(value) ? chosen.filter((one) => one !== value) : [...chosen, value]);

  return (
    <>
      {all.length >= SEARCH_FROM && (
        <SearchInput aria-label={t`Search ${inSentence(label)}`} value={search} onChange={setSearch} />
      )}
      <ul className="hg-options">
        {found.slice(0, MAX_LISTED).map(({ value, label: text, count }) => (
          <li key={value}>
            <label className="hg-menu-item">
              <input type="checkbox" checked={chosen.includes(value)} onChange={() => toggle(value)} />
              {text ?? <Data>{value}</Data>}
              {count !== undefined && <span className="hg-note">{readableNumber(count)}</span>}
            </label>
          </li>
        ))}
        {found.length > MAX_LISTED && (
          <li className="hg-note">{t`${readableNumber(found.length - MAX_LISTED)} more. Search to find them.`}</li>
        )}
        {found.length === 0 && <li className="hg-note">{t`No matches`}</li>}
      </ul>
      {reset && (
        <button type="button" className="hg-menu-item hg-menu-reset" onClick={reset.run}>
          {reset.label}
        </button>
      )}
    </>
  );
}
