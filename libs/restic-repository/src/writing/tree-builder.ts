import { encodeTree, type FileNode, type TreeNode } from '../format/tree.js';
import { InvalidInputError } from '../model/errors.js';
import { partsOf } from '../model/paths.js';
import type { BackupSession } from './backup-session.js';

class Folder {
  readonly folders = new Map<string, Folder>();
  readonly files = new Map<string, FileNode | undefined>();
}

/** Collects the files of a snapshot, and stores its folders from the bottom up. */
export class TreeBuilder {
  private readonly root = new Folder();

  /** Takes a path for a file that is added later. @throws InvalidInputError */
  reserve(path: string): { add(node: Omit<FileNode, 'type' | 'name'>): void } {
    const parts = partsOf(path);
    const name = parts.at(-1) ?? '';
    let folder = this.root;
    for (const part of parts.slice(0, -1)) {
      if (folder.files.has(part)) throw new InvalidInputError(`path: ${path} is below ${part}, which is a file.`);
      const next = folder.folders.get(part) ?? new Folder();
      folder.folders.set(part, next);
      folder = next;
    }
    if (folder.files.has(name) || folder.folders.has(name)) {
      throw new InvalidInputError(`path: the snapshot already has ${path}.`);
    }
    folder.files.set(name, undefined);
    return { add: (node) => void folder.files.set(name, { ...node, type: 'file', name }) };
  }

  /** The ID of the root's tree. */
  store(session: BackupSession, mtime: string): Promise<string> {
    return storeFolder(this.root, session, mtime);
  }
}

async function storeFolder(folder: Folder, session: BackupSession, mtime: string): Promise<string> {
  const nodes: TreeNode[] = [];
  for (const file of folder.files.values()) if (file) nodes.push(file);
  for (const [name, child] of folder.folders) {
    const subtree = await storeFolder(child, session, mtime);
    nodes.push({ type: 'dir', name, mtime, subtree });
  }
  return (await session.store('tree', encodeTree(nodes))).id;
}
