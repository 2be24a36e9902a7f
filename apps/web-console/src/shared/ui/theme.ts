import { useEffect } from 'react';
import { recall, useRemembered } from '../storage/remembered.js';

export const THEMES = ['system', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

const KEY = 'theme';
const DARK_CLASS = 'pf-v6-theme-dark';
const systemIsDark = () => matchMedia('(prefers-color-scheme: dark)');

export function applyTheme(theme: Theme): void {
  const dark = theme === 'dark' || (theme === 'system' && systemIsDark().matches);
  document.documentElement.classList.toggle(DARK_CLASS, dark);
  document.documentElement.style.colorScheme = dark ? 'dark' : 'light';
}

/** Before the first paint, so that nobody in the dark sees a white page. */
export const applyRememberedTheme = (): void => applyTheme(recall<Theme>(KEY, 'system'));

/** The chosen theme; `system` follows the operating system while the page is open. */
export function useTheme(): [Theme, (theme: Theme) => void] {
  const [theme, setTheme] = useRemembered<Theme>(KEY, 'system');
  useEffect(() => {
    const apply = () => applyTheme(theme);
    apply();
    const system = systemIsDark();
    system.addEventListener('change', apply);
    return () => system.removeEventListener('change', apply);
  }, [theme]);
  return [theme, setTheme];
}
