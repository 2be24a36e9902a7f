import { parentFolder, type FolderAssignment, type FolderDelta } from '@headgate/domain-contracts';
import type { Folders, FolderTree } from '@headgate/folders';

/** The part of a change that is the same for opening and closing. */
const NO_CHANGE: FolderDelta = { removed: [], renamed: [], created: [], assigned: [] };

/**
 * Keeps the folders of simulated instances in the store while the service runs. Nothing of a simulation is saved, so
 * that a later start with real engines does not show members that never existed.
 */
export class SimulatedFolders {
  constructor(
    private readonly folders: Pick<Folders, 'change'>,
    private readonly assignments: readonly FolderAssignment[],
  ) {}

  /** Adds the folders and their members. An instance that is in another folder stays there. */
  async open(): Promise<void> {
    if (this.assignments.length === 0) return;
    await this.folders.change((tree) => ({
      ...NO_CHANGE,
      created: this.paths().filter((path) => !tree.has(path)),
      assigned: this.assignments.filter((one) => tree.folderOf(one) === undefined),
    }));
  }

  /** Removes the members that are still in their folder, and those of the folders that have no others. */
  async close(): Promise<void> {
    if (this.assignments.length === 0) return;
    await this.folders.change((tree) => {
      const assigned = this.assignments.filter((one) => tree.folderOf(one) === one.path);
      return {
        ...NO_CHANGE,
        removed: this.emptied(tree, new Set(assigned.map(({ ref }) => ref))),
        assigned: assigned.map(({ ref, uid }) => ({ ref, uid, path: undefined })),
      };
    });
  }

  /** Each path after the folder around it. */
  private paths(): string[] {
    const paths = new Set<string>();
    for (const { path } of this.assignments)
      for (let one = path; one !== undefined; one = parentFolder(one)) paths.add(one);
    return [...paths].sort();
  }

  private emptied(tree: FolderTree, leaving: ReadonlySet<string>): string[] {
    const others = tree.paths().filter((path) => !this.paths().includes(path));
    const isEmptied = (path: string): boolean =>
      [...tree.members(path)].every(({ ref }) => leaving.has(ref)) && !others.some((one) => one.startsWith(`${path}/`));
    const kept = this.paths().filter((path) => tree.has(path) && !isEmptied(path));
    return this.paths().filter(
      (path) => tree.has(path) && !kept.some((one) => one === path || one.startsWith(`${path}/`)),
    );
  }
}
