import {
  Badge,
  Divider,
  MenuSearch,
  MenuSearchInput,
  MenuToggle,
  SearchInput,
  Select,
  SelectList,
  SelectOption,
} from '@patternfly/react-core';
import { useState, type ReactNode } from 'react';

interface CheckMenuProps {
  label: string;
  icon?: ReactNode;
  /** Asked for when the menu opens. */
  options: () => readonly { readonly value: string; readonly label?: string; readonly count?: number }[];
  chosen: readonly string[];
  onChange: (chosen: string[]) => void;
  /** Offered below the options: everything as it was in the beginning. */
  onReset?: () => void;
  /** Whether the number of chosen ones is shown. */
  counted?: boolean;
}

/** From here on nobody finds anything without a search. */
const SEARCHED_FROM = 12;
/** A menu of thousands helps nobody and takes its time: the search leads to the others. */
const LISTED = 100;
const RESET = '\0reset';

/** A menu of check boxes: a filter, or the choice of columns. */
export function CheckMenu(props: CheckMenuProps) {
  const { label, icon, options, chosen, onChange, onReset, counted = true } = props;
  const [open, setOpen] = useState(false);
  const [search, setSearch] = useState('');
  const toggle = (value: string): void =>
    value === RESET
      ? onReset?.()
      : onChange(chosen.includes(value) ? chosen.filter((one) => one !== value) : [...chosen, value]);
  const openOrClose = (next: boolean): void => {
    setOpen(next);
    setSearch('');
  };
  const all = open ? options() : [];
  const found = all.filter(({ value, label: text = value }) => text.toLowerCase().includes(search.toLowerCase()));

  return (
    <Select
      role="menu"
      isOpen={open}
      onOpenChange={openOrClose}
      onSelect={(_event, value) => toggle(String(value))}
      isScrollable
      maxMenuHeight="24rem"
      popperProps={{ appendTo: 'inline' }}
      toggle={(ref) => (
        <MenuToggle
          ref={ref}
          className={counted ? '' : 'hg-menu--spare'}
          icon={icon}
          isExpanded={open}
          onClick={() => openOrClose(!open)}
          badge={counted && chosen.length > 0 ? <Badge isRead>{chosen.length}</Badge> : undefined}
        >
          {label}
        </MenuToggle>
      )}
    >
      {all.length >= SEARCHED_FROM && (
        <MenuSearch>
          <MenuSearchInput>
            <SearchInput
              aria-label={`Search ${label.toLowerCase()}`}
              value={search}
              onChange={(_event, text) => setSearch(text)}
              onClear={() => setSearch('')}
            />
          </MenuSearchInput>
        </MenuSearch>
      )}
      {open && (
        <SelectList aria-label={label}>
          {found.slice(0, LISTED).map(({ value, label: text = value, count }) => (
            <SelectOption key={value} value={value} hasCheckbox isSelected={chosen.includes(value)}>
              {text}
              {count !== undefined && <span className="hg-note"> {count.toLocaleString('en')}</span>}
            </SelectOption>
          ))}
          {found.length > LISTED && (
            <SelectOption isDisabled>{(found.length - LISTED).toLocaleString('en')} more: search them</SelectOption>
          )}
          {found.length === 0 && <SelectOption isDisabled>Nothing of that name</SelectOption>}
          {onReset && <Divider component="li" />}
          {onReset && <SelectOption value={RESET}>As at first</SelectOption>}
        </SelectList>
      )}
    </Select>
  );
}
