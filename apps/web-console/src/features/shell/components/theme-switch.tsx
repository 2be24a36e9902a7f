import { Icon } from '../../../shared/ui/icon.js';
import { useThemeSwitch } from '../use-theme-switch.js';

/** The button for the next theme. */
export function ThemeSwitch() {
  const { label, icon, switchTheme } = useThemeSwitch();
  return (
    <button type="button" className="hg-icon-button" aria-label={label} title={label} onClick={switchTheme}>
      <Icon name={icon} />
    </button>
  );
}
