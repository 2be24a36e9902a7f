import { apiError, badRequest, type ApiError } from '../api-error.js';
import { deepCopy, deepEqual } from '../deep-copy.js';

interface Operation {
  op: 'add' | 'remove' | 'replace' | 'move' | 'copy' | 'test';
  path: string;
  from?: string;
  value?: unknown;
}

/** The 422 error for an operation that can't be applied. */
const refused = (): ApiError =>
  apiError(422, 'Invalid', 'the server rejected our request due to an error in our request', {});

/** RFC 6902 on a copy. @throws ApiError 400 malformed, 422 when a path is missing or a test fails */
export function applyJsonPatch(target: unknown, patch: unknown): unknown {
  if (!Array.isArray(patch)) throw badRequest('json: cannot unmarshal object into Go value of type jsonpatch.Patch');
  const root = { document: deepCopy(target) };
  for (const operation of patch as Operation[]) applyOperation(root, operation);
  return root.document;
}

function applyOperation(root: { document: unknown }, { op, path, from, value }: Operation): void {
  switch (op) {
    case 'add':
      return add(root, path, deepCopy(value));
    case 'remove':
      return void remove(root, path);
    case 'replace':
      read(root, path);
      return set(root, path, deepCopy(value));
    case 'move':
      return add(root, path, remove(root, from ?? ''));
    case 'copy':
      return add(root, path, deepCopy(read(root, from ?? '')));
    case 'test':
      // A test of an absent field against null passes, as in the server's library (evanphx/json-patch).
      if (!deepEqual(readOr(root, path, null) ?? null, value ?? null)) throw refused();
      return;
    default:
      throw badRequest(`Unexpected kind: ${String(op)}`);
  }
}

function parse(path: unknown): string[] {
  if (typeof path !== 'string' || (path !== '' && !path.startsWith('/'))) throw refused();
  return [
    'document',
    ...path
      .split('/')
      .slice(1)
      .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~')),
  ];
}

type Container = Record<string, unknown> | unknown[];

function locate(root: { document: unknown }, path: string): { parent: Container; key: string } {
  const parts = parse(path);
  const key = parts.pop()!;
  let parent: unknown = root;
  for (const part of parts) parent = step(parent, part);
  if (typeof parent !== 'object' || parent === null) throw refused();
  return { parent: parent as Container, key };
}

function step(container: unknown, part: string): unknown {
  if (Array.isArray(container)) return container[index(part, container.length - 1)];
  if (typeof container !== 'object' || container === null || !Object.hasOwn(container, part)) throw refused();
  return (container as Record<string, unknown>)[part];
}

function index(part: string, max: number): number {
  const number = /^-?\d+$/.test(part) ? Number(part) : NaN;
  if (!(number >= 0 && number <= max)) throw refused();
  return number;
}

function read(root: { document: unknown }, path: string): unknown {
  const { parent, key } = locate(root, path);
  return step(parent, key);
}

function readOr(root: { document: unknown }, path: string, fallback: unknown): unknown {
  const { parent, key } = locate(root, path);
  return Array.isArray(parent) || Object.hasOwn(parent, key) ? step(parent, key) : fallback;
}

function set(root: { document: unknown }, path: string, value: unknown): void {
  const { parent, key } = locate(root, path);
  if (Array.isArray(parent)) parent[index(key, parent.length - 1)] = value;
  else parent[key] = value;
}

function add(root: { document: unknown }, path: string, value: unknown): void {
  const { parent, key } = locate(root, path);
  if (!Array.isArray(parent)) parent[key] = value;
  else if (key === '-') parent.push(value);
  else parent.splice(index(key, parent.length), 0, value);
}

function remove(root: { document: unknown }, path: string): unknown {
  const { parent, key } = locate(root, path);
  const value = step(parent, key);
  if (Array.isArray(parent)) parent.splice(Number(key), 1);
  else delete parent[key];
  return value;
}
