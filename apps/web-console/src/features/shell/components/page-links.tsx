import { Link, useLocation } from 'wouter';
import { useCapabilities } from '../../../shared/queries/use-capabilities.js';
import { isAdministrator, useWhoami } from '../../../shared/queries/use-whoami.js';
import { paths } from '../../../shared/location/paths.js';
import { Dropdown, DropdownLink } from '../../../shared/ui/dropdown.js';
import { useMedia } from '../../../shared/ui/use-media.js';

/** The pages that the user can open. In a narrow window they are in a menu, so that each of them can be reached. */
export function PageLinks() {
  const [path] = useLocation();
  const isNarrow = useMedia('(max-width: 700px)');
  const pages = usePages().map((page) => ({ ...page, isCurrent: path.startsWith(page.href) }));
  return (
    <nav aria-label="Pages" className="hg-nav">
      {isNarrow ? (
        <Dropdown
          isPlain
          className="hg-nav-menu"
          popup="dialog"
          panelLabel="Pages"
          label={pages.find(({ isCurrent }) => isCurrent)?.label ?? 'Pages'}
        >
          {pages.map(({ href, label, isCurrent }) => (
            <DropdownLink key={href} href={href} isCurrent={isCurrent}>
              {label}
            </DropdownLink>
          ))}
        </Dropdown>
      ) : (
        pages.map(({ href, label, isCurrent }) => (
          <Link key={href} href={href} aria-current={isCurrent ? 'page' : undefined}>
            {label}
          </Link>
        ))
      )}
    </nav>
  );
}

function usePages(): readonly { href: string; label: string }[] {
  const { data: capabilities } = useCapabilities();
  const { data: whoami } = useWhoami();
  const hasContainers = capabilities?.contexts.some(({ abilities }) => abilities['containers'] === true) ?? false;
  return [
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
}
