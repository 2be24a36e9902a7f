import { useMemo } from 'react';
import { useContainers, useFleet } from '../../shared/fleet/fleet-provider.js';
import type { Instance } from '../../shared/instances/instance.js';
import { useFolders } from '../../shared/queries/use-folders.js';
import { folderNodes, type FolderNode } from './folder-nodes.js';

interface FolderTreeState {
  /** The state of the request, with the nodes as its data once the instances are known as well. */
  readonly query: {
    readonly data: readonly FolderNode[] | undefined;
    readonly error: Error | null;
    readonly refetch: () => unknown;
  };
  readonly nodes: readonly FolderNode[];
  /** All VMs and containers. */
  readonly entries: readonly Instance[];
  /** The number of members of a folder, and of the folders in it, that do not exist. */
  readonly missingIn: (isIn: (path: string) => boolean) => number;
  /** The paths of all folders. */
  readonly known: readonly string[];
}

/** The folders of the service with the sums of the entries that the page has. */
export function useFolderTree(): FolderTreeState {
  const { data, error, refetch } = useFolders();
  const vms = useFleet((fleet) => fleet.entries);
  const containers = useContainers((fleet) => fleet.entries);
  const isLoading = useFleet(({ phase }) => phase === 'loading');
  const entries = useMemo(() => [...vms, ...containers], [vms, containers]);
  const known = useMemo(() => data?.folders.map(({ path }) => path) ?? [], [data]);
  const nodes = useMemo(() => folderNodes(known, entries), [known, entries]);
  return {
    query: { data: data && !isLoading ? nodes : undefined, error, refetch },
    nodes,
    entries,
    known,
    missingIn: (isIn) =>
      data?.folders.reduce((sum, { path, counts }) => sum + (isIn(path) ? counts.missing : 0), 0) ?? 0,
  };
}
