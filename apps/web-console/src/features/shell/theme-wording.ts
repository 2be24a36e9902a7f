import type { IconName } from '../../icons.js';
import type { Theme } from '../../shared/ui/theme.js';

export const THEME_WORDING: Readonly<Record<Theme, { label: string; icon: IconName }>> = {
  system: { label: 'system', icon: 'system' },
  light: { label: 'light', icon: 'sun' },
  dark: { label: 'dark', icon: 'moon' },
};
