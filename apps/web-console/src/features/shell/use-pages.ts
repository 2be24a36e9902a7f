import { useLocation } from 'wouter';
import type { IconName } from '../../icons.js';
import { useCapabilities } from '../../shared/queries/use-capabilities.js';
import { isAdministrator, useWhoami } from '../../shared/queries/use-whoami.js';
import { paths } from '../../shared/location/paths.js';
import type { CountedPage } from './use-page-counts.js';

export interface PageLink {
  readonly name: CountedPage | 'folders' | 'storage' | 'networks' | 'plugins' | 'activity' | 'integrations';
  readonly href: string;
  readonly label: string;
  readonly icon: IconName;
  readonly isCurrent: boolean;
}

type Page = Omit<PageLink, 'isCurrent'> & {
  /** Other paths that belong to the page. */
  readonly also?: readonly string[];
};

/** The pages that the user can open, in the order of the sidebar. */
export function usePages(): readonly PageLink[] {
  const [path] = useLocation();
  const { data: capabilities } = useCapabilities();
  const { data: whoami } = useWhoami();
  const hasContainers = capabilities?.contexts.some(({ abilities }) => abilities['containers'] === true) ?? false;
  const pages: readonly Page[] = [
    { name: 'machines', href: paths.fleet, label: 'Machines', icon: 'screen' },
    ...(hasContainers
      ? [{ name: 'containers', href: paths.containers, label: 'Containers', icon: 'container' } as const]
      : []),
    { name: 'folders', href: paths.folders, label: 'Folders', icon: 'folder' },
    { name: 'nodes', href: paths.nodes, label: 'Nodes', icon: 'node' },
    { name: 'storage', href: paths.storage, label: 'Storage', icon: 'storage' },
    { name: 'networks', href: paths.networks, label: 'Networks', icon: 'context' },
    { name: 'images', href: paths.images, label: 'Images', icon: 'image' },
    { name: 'plugins', href: paths.plugins, label: 'Plugins', icon: 'plugin' },
    {
      name: 'activity',
      href: paths.activity,
      label: 'Activity',
      icon: 'activity',
      also: [paths.journal, paths.task('')],
    },
    { name: 'health', href: paths.doctor, label: 'Health', icon: 'health' },
    ...(isAdministrator(whoami)
      ? [{ name: 'integrations', href: paths.integrations, label: 'Integrations', icon: 'integrations' } as const]
      : []),
  ];
  return pages.map(({ also = [], ...page }) => ({
    ...page,
    isCurrent: [page.href, ...also].some((start) => path.startsWith(start)),
  }));
}
