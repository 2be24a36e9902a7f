import { t } from '@lingui/core/macro';
import { Link } from 'wouter';
import type { ReactNode } from 'react';
import { paths } from '../../../shared/location/paths.js';
import { useBottomBar, useCompact } from '../../../shared/ui/use-compact.js';
import { PaletteButton } from '../palette/components/palette-button.js';
import { usePages } from '../use-pages.js';
import { CallerBadge } from './caller-badge.js';
import { ConnectionState } from './connection-state.js';
import { LanguageMenu } from './language-menu.js';
import { PagesMenu } from './pages-menu.js';
import { ShortcutsHelp } from './shortcuts-help.js';
import { ThemeSwitch } from './theme-switch.js';

/**
 * The name, the palette, the state of the contexts, help, the language, the theme, and the user. A low window has the
 * pages and the tasks here, a phone has them in its bar.
 */
export function Masthead({ tasks }: { tasks: ReactNode }) {
  const hasBottomBar = useBottomBar();
  const hasMenus = useCompact() && !hasBottomBar;
  return (
    <header className="hg-masthead">
      <a className="hg-skip" href="#main" onClick={skipToMain}>
        {t`Skip to content`}
      </a>
      <Link href={paths.fleet} className="hg-brand">
        <svg viewBox="0 0 20 20" aria-hidden="true" className="hg-brand-mark">
          <rect width="20" height="20" rx="5" fill="currentColor" />
          <path d="M6 4.5v11M14 4.5v11" stroke="#fff" strokeWidth="2.2" strokeLinecap="round" />
          <path d="M8.4 6.2h3.2v4.4H8.4z" fill="#fff" />
          <path d="M8.2 14.3q.9-.9 1.8 0t1.8 0" stroke="#fff" strokeWidth="1.3" fill="none" strokeLinecap="round" />
        </svg>
        <span>Headgate</span>
      </Link>
      {hasMenus && <PagesMenu />}
      {hasBottomBar && <PageTitle />}
      {!hasBottomBar && <PaletteButton />}
      <span className="hg-spring" />
      {hasBottomBar && <PaletteButton />}
      <ConnectionState />
      {hasMenus && tasks}
      <ShortcutsHelp />
      {!hasBottomBar && <LanguageMenu />}
      {!hasBottomBar && <ThemeSwitch />}
      <CallerBadge />
    </header>
  );
}

/** The current page. Its heading may have scrolled away. */
function PageTitle() {
  return <span className="hg-masthead-title">{usePages().find(({ isCurrent }) => isCurrent)?.label}</span>;
}

/** The console's path is in the fragment, so an ordinary link to an anchor would leave the page. */
function skipToMain(event: React.MouseEvent): void {
  event.preventDefault();
  document.getElementById('main')?.focus();
}
