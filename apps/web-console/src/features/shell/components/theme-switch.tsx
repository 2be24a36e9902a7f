import type { IconName } from '../../../icons.js';
import { Icon } from '../../../shared/ui/icon.js';
import { THEMES, useTheme, type Theme } from '../../../shared/ui/theme.js';

const WORDING: Readonly<Record<Theme, { label: string; icon: IconName }>> = {
  system: { label: 'as the system', icon: 'system' },
  light: { label: 'light', icon: 'sun' },
  dark: { label: 'dark', icon: 'moon' },
};

/** Goes round: as the system, light, dark. */
export function ThemeSwitch() {
  const [theme, setTheme] = useTheme();
  const next = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length] ?? 'system';
  const label = `Theme: ${WORDING[theme].label}. Change to ${WORDING[next].label}`;
  return (
    <button type="button" className="hg-icon-button" aria-label={label} title={label} onClick={() => setTheme(next)}>
      <Icon name={WORDING[theme].icon} />
    </button>
  );
}
