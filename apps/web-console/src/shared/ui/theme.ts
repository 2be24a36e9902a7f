import { useEffect } from 'react';
import { recall, useRemembered } from '../storage/remembered.js';

export const THEMES = ['system', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

const KEY = 'theme';

/** The style sheet follows the operating system unless the root element names a theme. */
function applyTheme(theme: Theme): void {
  const { dataset } = document.documentElement;
  if (theme === 'system') delete dataset['theme'];
  else dataset['theme'] = theme;
}

/** Runs before the first paint, so that the page never flashes in the wrong theme. */
export const applyRememberedTheme = (): void => applyTheme(recall<Theme>(KEY, 'system'));

export function useTheme(): [Theme, (theme: Theme) => void] {
  const [theme, setTheme] = useRemembered<Theme>(KEY, 'system');
  useEffect(() => applyTheme(theme), [theme]);
  return [theme, setTheme];
}
