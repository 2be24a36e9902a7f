import { Dropdown, DropdownItem, DropdownList, MenuToggle } from '@patternfly/react-core';
import { useState } from 'react';
import { Icon } from '../../../shared/ui/icon.js';
import { KEY_COMBINATIONS, type KeyCombination } from '../key-combinations.js';

interface KeysMenuProps {
  isDisabled: boolean;
  onSend: (combination: KeyCombination) => void;
}

/** Keys that never reach a guest by typing: the browser or the desktop takes them. */
export function KeysMenu({ isDisabled, onSend }: KeysMenuProps) {
  const [open, setOpen] = useState(false);
  return (
    <Dropdown
      isOpen={open}
      onOpenChange={setOpen}
      onSelect={() => setOpen(false)}
      isScrollable
      maxMenuHeight="20rem"
      popperProps={{ appendTo: 'inline' }}
      toggle={(ref) => (
        <MenuToggle
          ref={ref}
          size="sm"
          variant="plainText"
          icon={<Icon name="keyboard" />}
          isDisabled={isDisabled}
          isExpanded={open}
          onClick={() => setOpen(!open)}
        >
          Send keys
        </MenuToggle>
      )}
    >
      <DropdownList>
        {KEY_COMBINATIONS.map((combination) => (
          <DropdownItem key={combination.label} onClick={() => onSend(combination)}>
            {combination.label}
          </DropdownItem>
        ))}
      </DropdownList>
    </Dropdown>
  );
}
