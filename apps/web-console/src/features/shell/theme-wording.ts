import { t } from '@lingui/core/macro';
import type { IconName } from '../../icons.js';
import type { Theme } from '../../shared/ui/theme.js';
import { perLanguage } from '../../shared/texts/per-language.js';

export const themeWording = perLanguage((): Readonly<Record<Theme, { label: string; icon: IconName }>> => ({
  system: { label: t`system`, icon: 'system' },
  light: { label: t`light`, icon: 'sun' },
  dark: { label: t`dark`, icon: 'moon' },
}));
