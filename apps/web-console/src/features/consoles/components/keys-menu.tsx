import { t } from '@lingui/core/macro';
import { Menu } from '../../../shared/ui/dropdown.js';
import { Icon } from '../../../shared/ui/icon.js';
import { KEY_COMBINATIONS, type KeyCombination } from '../key-combinations.js';

interface KeysMenuProps {
  isDisabled: boolean;
  onSend: (combination: KeyCombination) => void;
}

/** Key combinations that the browser or the desktop intercepts. */
export function KeysMenu({ isDisabled, onSend }: KeysMenuProps) {
  return (
    <Menu
      label={t`Send keys`}
      icon={<Icon name="keyboard" />}
      isSmall
      isPlain
      isDisabled={isDisabled}
      items={KEY_COMBINATIONS.map((combination) => ({
        label: combination.label,
        run: () => onSend(combination),
      }))}
    />
  );
}
