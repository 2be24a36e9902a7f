import { Icon } from '../../../shared/ui/icon.js';
import { THEMES, useTheme } from '../../../shared/ui/theme.js';
import { THEME_WORDING } from '../theme-wording.js';

/** Switches between the system's theme, light, and dark. */
export function ThemeSwitch() {
  const [theme, setTheme] = useTheme();
  const next = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length] ?? 'system';
  const label = `Theme: ${THEME_WORDING[theme].label}. Switch to ${THEME_WORDING[next].label}`;
  return (
    <button type="button" className="hg-icon-button" aria-label={label} title={label} onClick={() => setTheme(next)}>
      <Icon name={THEME_WORDING[theme].icon} />
    </button>
  );
}
