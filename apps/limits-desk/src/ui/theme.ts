const STORED = 'limits-desk-theme';

/** The theme in force: the chosen one, or that of the operating system. */
export const isDark = (): boolean => {
  const chosen = document.documentElement.dataset.theme;
  return chosen === undefined ? matchMedia('(prefers-color-scheme: dark)').matches : chosen === 'dark';
};

export function applyRememberedTheme(): void {
  const theme = localStorage.getItem(STORED);
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
}

export function toggleTheme(): void {
  const theme = isDark() ? 'light' : 'dark';
  document.documentElement.dataset.theme = theme;
  localStorage.setItem(STORED, theme);
}
