import type { IconName } from '../../../icons.js';
import { Icon } from '../../../shared/ui/icon.js';
import { THEMES, useTheme, type Theme } from '../../../shared/ui/theme.js';

const THEME_WORDING: Readonly<Record<Theme, { label: string; icon: IconName }>> = {
  system: { label: 'system', icon: 'system' },
  light: { label: 'light', icon: 'sun' },
  dark: { label: 'dark', icon: 'moon' },
};

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
