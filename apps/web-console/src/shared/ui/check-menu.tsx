import { Badge, MenuToggle, Select, SelectList, SelectOption } from '@patternfly/react-core';
import { useState, type ReactNode } from 'react';

interface CheckMenuProps {
  label: string;
  icon?: ReactNode;
  options: readonly { readonly value: string; readonly label?: string; readonly count?: number }[];
  chosen: readonly string[];
  onChange: (chosen: string[]) => void;
  /** Whether the number of chosen ones is shown. */
  counted?: boolean;
}

/** A menu of check boxes: a filter, or the choice of columns. */
export function CheckMenu({ label, icon, options, chosen, onChange, counted = true }: CheckMenuProps) {
  const [open, setOpen] = useState(false);
  const toggle = (value: string): void =>
    onChange(chosen.includes(value) ? chosen.filter((one) => one !== value) : [...chosen, value]);

  return (
    <Select
      role="menu"
      isOpen={open}
      onOpenChange={setOpen}
      onSelect={(_event, value) => toggle(String(value))}
      isScrollable
      maxMenuHeight="24rem"
      popperProps={{ appendTo: 'inline' }}
      toggle={(ref) => (
        <MenuToggle
          ref={ref}
          icon={icon}
          isExpanded={open}
          onClick={() => setOpen(!open)}
          badge={counted && chosen.length > 0 ? <Badge isRead>{chosen.length}</Badge> : undefined}
        >
          {label}
        </MenuToggle>
      )}
    >
      <SelectList aria-label={label}>
        {options.map(({ value, label: text = value, count }) => (
          <SelectOption key={value} value={value} hasCheckbox isSelected={chosen.includes(value)}>
            {text}
            {count !== undefined && <span className="hg-note"> {count.toLocaleString('en')}</span>}
          </SelectOption>
        ))}
      </SelectList>
    </Select>
  );
}
