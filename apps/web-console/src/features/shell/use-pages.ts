import { t } from '@lingui/core/macro';
import { useLocation } from 'wouter';
import type { IconName } from '../../icons.js';
import { useCapabilities } from '../../shared/queries/use-capabilities.js';
import { isAdministrator, useWhoami } from '../../shared/queries/use-whoami.js';
import { paths } from '../../shared/location/paths.js';
import type { CountedPage } from './use-page-counts.js';

export interface PageLink {
  readonly name:
    | CountedPage
    | 'folders'
    | 'storage'
    | 'networks'
    | 'plugins'
    | 'backups'
    | 'schedules'
    | 'activity'
    | 'messages'
    | 'access'
    | 'integrations'
    | 'settings';
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
    { name: 'machines', href: paths.fleet, label: t`Machines`, icon: 'screen' },
    ...(hasContainers
      ? [{ name: 'containers', href: paths.containers, label: t`Containers`, icon: 'container' } as const]
      : []),
    { name: 'folders', href: paths.folders, label: t`Folders`, icon: 'folder' },
    { name: 'nodes', href: paths.nodes, label: t`Nodes`, icon: 'node' },
    { name: 'storage', href: paths.storage, label: t`Storage`, icon: 'storage' },
    { name: 'networks', href: paths.networks, label: t`Networks`, icon: 'context' },
    { name: 'images', href: paths.images, label: t`Images`, icon: 'image' },
    { name: 'plugins', href: paths.plugins, label: t`Plugins`, icon: 'plugin' },
    { name: 'backups', href: paths.backups, label: t`Backups`, icon: 'shield' },
    { name: 'schedules', href: paths.schedules, label: t`Schedules`, icon: 'hourglass' },
    { name: 'approvals', href: paths.approvals, label: t`Approvals`, icon: 'check' },
    {
      name: 'activity',
      href: paths.activity,
      label: t`Activity`,
      icon: 'activity',
      also: [paths.journal, paths.task('')],
    },
    { name: 'health', href: paths.doctor, label: t`Health`, icon: 'health' },
    { name: 'messages', href: paths.messages, label: t`Messages`, icon: 'info' },
    { name: 'access', href: paths.access, label: t`Access`, icon: 'lock' },
    { name: 'integrations', href: paths.integrations, label: t`Integrations`, icon: 'integrations' },
    ...(isAdministrator(whoami)
      ? [{ name: 'settings', href: paths.settings, label: t`Settings`, icon: 'settings' } as const]
      : []),
  ];
  return pages.map(({ also = [], ...page }) => ({
    ...page,
    isCurrent: [page.href, ...also].some((start) => path.startsWith(start)),
  }));
}
