import { t } from '@lingui/core/macro';
import { queryFor } from '../../../shared/list/query-for.js';
import { byLabel, type Counts, type TreeNode } from './tree-node.js';

interface Folder {
  readonly path: string;
  readonly name: string;
  count: number;
  readonly folders: Map<string, Folder>;
}

const newFolder = (path: string, name: string): Folder => ({ path, name, count: 0, folders: new Map() });

/** The folders with their VMs, those of the folders in them included. VMs in no folder come last. */
export function folderTree(counts: Counts): readonly TreeNode[] {
  const root = newFolder('', '');
  for (const [path, count] of counts) {
    if (path === '') continue;
    let folder = root;
    for (const name of path.split('/')) {
      const child = folder.folders.get(name) ?? newFolder(folder === root ? name : `${folder.path}/${name}`, name);
      folder.folders.set(name, child);
      child.count += count;
      folder = child;
    }
  }
  const outside = counts.get('') ?? 0;
  return [
    ...nodesOf(root),
    ...(outside > 0
      ? [
          {
            id: '',
            label: t`In no folder`,
            isText: true,
            icon: 'folder',
            query: queryFor({ folder: '' }),
            count: outside,
            children: [],
          } as const,
        ]
      : []),
  ];
}

const nodesOf = ({ folders }: Folder): TreeNode[] =>
  [...folders.values()]
    .map((folder): TreeNode => ({
      id: folder.path,
      label: folder.name,
      icon: 'folder',
      query: queryFor({ folder: `${folder.path}/*` }),
      count: folder.count,
      children: nodesOf(folder),
    }))
    .sort(byLabel);
