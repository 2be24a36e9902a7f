import { Link } from 'wouter';
import type { ReactNode } from 'react';
import { paths } from '../../../shared/location/paths.js';
import { CallerBadge } from './caller-badge.js';
import { ConnectionState } from './connection-state.js';
import { PageLinks } from './page-links.js';
import { ShortcutsHelp } from './shortcuts-help.js';
import { ThemeSwitch } from './theme-switch.js';

/** The name, the pages, the state of the contexts, and the user. */
export function Masthead({ tasks }: { tasks: ReactNode }) {
  return (
    <header className="hg-masthead">
      <a className="hg-skip" href="#main" onClick={skipToMain}>
        Skip to content
      </a>
      <Link href={paths.fleet} className="hg-brand">
        <svg viewBox="0 0 24 24" aria-hidden="true" className="hg-brand-mark">
          <path d="M3 21V7l9-4 9 4v14h-4V11H7v10z" fill="currentColor" />
          <path d="M9.5 13.5h5M9.5 17h5M9.5 20.5h5" stroke="currentColor" strokeWidth="1.8" />
        </svg>
        <span>Headgate</span>
      </Link>
      <PageLinks />
      <ConnectionState />
      {tasks}
      <ShortcutsHelp />
      <ThemeSwitch />
      <CallerBadge />
    </header>
  );
}

/** The console's path is in the fragment, so an ordinary link to an anchor would leave the page. */
function skipToMain(event: React.MouseEvent): void {
  event.preventDefault();
  document.getElementById('main')?.focus();
}
