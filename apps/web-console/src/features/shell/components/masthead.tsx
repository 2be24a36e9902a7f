import { Link, useLocation } from 'wouter';
import type { ReactNode } from 'react';
import { useCapabilities } from '../../../shared/queries/use-capabilities.js';
import { isAdministrator, useWhoami } from '../../../shared/queries/use-whoami.js';
import { paths } from '../../../shared/location/paths.js';
import { CallerBadge } from './caller-badge.js';
import { ConnectionState } from './connection-state.js';
import { ShortcutsHelp } from './shortcuts-help.js';
import { ThemeSwitch } from './theme-switch.js';

/** The name, the pages, the state of the contexts, and the user. */
export function Masthead({ tasks }: { tasks: ReactNode }) {
  const [path] = useLocation();
  const { data: capabilities } = useCapabilities();
  const { data: whoami } = useWhoami();
  const hasContainers = capabilities?.contexts.some(({ abilities }) => abilities['containers'] === true) ?? false;
  const pages = [
    { href: paths.fleet, label: 'Virtual machines' },
    ...(hasContainers ? [{ href: paths.containers, label: 'Containers' }] : []),
    { href: paths.nodes, label: 'Nodes' },
    { href: paths.images, label: 'Images' },
    { href: paths.plugins, label: 'Plugins' },
    { href: paths.doctor, label: 'Health' },
    ...(isAdministrator(whoami)
      ? [
          { href: paths.journal, label: 'Journal' },
          { href: paths.integrations, label: 'Integrations' },
        ]
      : []),
  ];

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
        Headgate
      </Link>
      <nav aria-label="Pages" className="hg-nav">
        {pages.map(({ href, label }) => (
          <Link key={href} href={href} aria-current={path.startsWith(href) ? 'page' : undefined}>
            {label}
          </Link>
        ))}
      </nav>
      <span className="hg-spring" />
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
