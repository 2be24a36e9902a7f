import { t } from '@lingui/core/macro';
import { instanceState } from '../../shared/instances/instance-state.js';
import { isMeasured, type Instance } from '../../shared/instances/instance.js';
import { isWithin, nameOfFolder, parentOf } from '../../shared/names/folder-name-rule.js';
import { compareText, naturalSortKey } from '../../shared/names/natural-sort-key.js';
import { bytesOf } from '../../shared/quantity/quantity.js';

/** The ID of the machines in no folder. No folder has it. */
export const OUTSIDE = '';

/** Sums over the VMs and containers of a folder, with those of the folders in it. */
export interface FolderSums {
  readonly total: number;
  readonly running: number;
  readonly failing: number;
  /** The CPUs that the running ones have. */
  readonly cpu: number;
  /** The memory that the running ones have. */
  readonly memoryBytes: number;
}

/** A folder of the tree. */
export interface FolderNode {
  /** Its path, or `OUTSIDE`. */
  readonly id: string;
  readonly label: string;
  readonly sums: FolderSums;
  readonly children: readonly FolderNode[];
}

interface Draft {
  readonly sums: { -readonly [K in keyof FolderSums]: number };
  readonly names: Set<string>;
}

export const isFailing = (instance: Instance): boolean => instanceState(instance).tone === 'danger';

/**
 * The tree of the folders with their sums, and as the last one the machines that are in none. Costs one pass over the
 * entries.
 * @param paths of all folders
 */
export function folderNodes(paths: readonly string[], entries: readonly Instance[]): readonly FolderNode[] {
  const drafts = new Map<string, Draft>();
  const draftOf = (path: string): Draft => {
    const known = drafts.get(path);
    if (known) return known;
    const draft = newDraft();
    drafts.set(path, draft);
    draftOf(parentOf(path)).names.add(path);
    return draft;
  };
  drafts.set('', newDraft());
  for (const path of paths) draftOf(path);
  const outside = newDraft();
  for (const entry of entries) {
    // The list of folders may arrive later than an entry of a new one.
    for (let path = entry.folder ?? ''; path !== ''; path = parentOf(path)) add(draftOf(path), entry);
    if (!entry.folder) add(outside, entry);
  }
  const nodesIn = (path: string): FolderNode[] =>
    [...draftOf(path).names]
      .map((id) => ({ id, label: nameOfFolder(id), sums: draftOf(id).sums, children: nodesIn(id) }))
      .sort((a, b) => compareText(naturalSortKey(a.label), naturalSortKey(b.label)));
  const nodes = nodesIn('');
  if (nodes.length === 0) return [];
  return [...nodes, { id: OUTSIDE, label: t`In no folder`, sums: outside.sums, children: [] }];
}

const newDraft = (): Draft => ({
  sums: { total: 0, running: 0, failing: 0, cpu: 0, memoryBytes: 0 },
  names: new Set(),
});

function add({ sums }: Draft, entry: Instance): void {
  sums.total += 1;
  if (isFailing(entry)) sums.failing += 1;
  if (!isMeasured(entry)) return;
  sums.running += 1;
  sums.cpu += entry.cpu;
  sums.memoryBytes += bytesOf(entry.mem) || 0;
}

/** Every node, in the order of the tree. */
export const flatNodes = (nodes: readonly FolderNode[]): FolderNode[] =>
  nodes.flatMap((node) => [node, ...flatNodes(node.children)]);

/** The nodes whose names contain the text, with the folders around them and in them. */
export function foundNodes(nodes: readonly FolderNode[], text: string): readonly FolderNode[] {
  const wanted = text.trim().toLowerCase();
  if (wanted === '') return nodes;
  return nodes.flatMap((node) => {
    if (node.label.toLowerCase().includes(wanted)) return [node];
    const children = foundNodes(node.children, text);
    return children.length === 0 ? [] : [{ ...node, children }];
  });
}

/** The VMs and containers in a folder and the folders in it: failing ones first, then in the order of the lists. */
export function membersOf(id: string, entries: readonly Instance[]): readonly Instance[] {
  const members = entries.filter(({ folder = '' }) =>
    id === OUTSIDE ? folder === '' : folder !== '' && isWithin(folder, id),
  );
  return members.sort((a, b) => Number(isFailing(b)) - Number(isFailing(a)));
}
