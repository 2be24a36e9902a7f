import { t } from '@lingui/core/macro';
import type { IconName } from '../../icons.js';
import { THEMES, useTheme } from '../../shared/ui/theme.js';
import { themeWording } from './theme-wording.js';

export interface ThemeSwitchState {
  /** The current theme and the next one. */
  readonly label: string;
  readonly icon: IconName;
  readonly switchTheme: () => void;
}

/** Switches between the system's theme, light, and dark. */
export function useThemeSwitch(): ThemeSwitchState {
  const [theme, setTheme] = useTheme();
  const next = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length] ?? 'system';
  return {
    label: t`Theme: ${themeWording()[theme].label}. Switch to ${themeWording()[next].label}`,
    icon: themeWording()[theme].icon,
    switchTheme: () => setTheme(next),
  };
}
