import { DamagedError } from '../model/errors.js';
import { isSafeName } from '../model/paths.js';
import { quoteName, unquoteName } from './go-quote.js';
import { arrayOf, fieldsOf, idOf, isId, numberOf, parseJson, stringOf } from './json.js';

export interface FileNode {
  readonly type: 'file';
  readonly name: string;
  readonly size: number;
  readonly mtime: string;
  /** IDs of its blobs, in order. */
  readonly content: readonly string[];
}

export interface FolderNode {
  readonly type: 'dir';
  readonly name: string;
  readonly mtime: string;
  /** The ID of its tree. */
  readonly subtree: string;
}

export type TreeNode = FileNode | FolderNode;

const FILE_MODE = 0o600;
/** Go's bit for folders, and 0700. */
const FOLDER_MODE = 0x8000_0000 + 0o700;

/** The bytes of a tree blob. Nodes have to be sorted by the bytes of their names. */
export function encodeTree(nodes: readonly TreeNode[]): Buffer {
  const sorted = [...nodes].sort((a, b) => Buffer.compare(Buffer.from(a.name), Buffer.from(b.name)));
  // restic compares trees byte by byte, and its own end with a line feed.
  return Buffer.from(`${JSON.stringify({ nodes: sorted.map(encodeNode) })}\n`);
}

function encodeNode(node: TreeNode): unknown {
  const common = {
    name: quoteName(node.name),
    type: node.type,
    mode: node.type === 'dir' ? FOLDER_MODE : FILE_MODE,
    mtime: node.mtime,
    atime: node.mtime,
    ctime: node.mtime,
    uid: 0,
    gid: 0,
  };
  if (node.type === 'dir') return { ...common, content: null, subtree: node.subtree };
  return { ...common, links: 1, size: node.size, content: node.content };
}

/** Files and folders of a tree; links, devices and the like are left out. @throws DamagedError */
export function decodeTree(bytes: Uint8Array, subject: string): TreeNode[] {
  const nodes: TreeNode[] = [];
  const names = new Set<string>();
  for (const value of arrayOf(fieldsOf(parseJson(bytes, subject), subject), 'nodes', subject)) {
    const fields = fieldsOf(value, subject);
    const name = safeName(stringOf(fields, 'name', subject), subject);
    if (names.has(name)) throw new DamagedError(`${subject} has the name ${JSON.stringify(name)} twice.`, subject);
    names.add(name);
    const mtime = stringOf(fields, 'mtime', subject);
    if (fields['type'] === 'dir') {
      nodes.push({ type: 'dir', name, mtime, subtree: idOf(fields, 'subtree', subject) });
    } else if (fields['type'] === 'file') {
      const content = arrayOf(fields, 'content', subject);
      if (!content.every(isId)) throw new DamagedError(`${subject} has a file with an invalid blob ID.`, subject);
      const size = fields['size'] === undefined ? 0 : numberOf(fields, 'size', subject);
      nodes.push({ type: 'file', name, mtime, size, content });
    }
  }
  return nodes;
}

function safeName(quoted: string, subject: string): string {
  const name = unquoteName(quoted);
  if (name !== undefined && isSafeName(name)) return name;
  throw new DamagedError(`${subject} has the name ${JSON.stringify(quoted)}, which is no name of a file.`, subject);
}
