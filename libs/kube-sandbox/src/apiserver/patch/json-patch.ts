import { apiError, badRequest, type ApiError } from '../api-error.js';
import { deepCopy, deepEqual } from '../deep-copy.js';
import { isObject } from './merge-patch.js';

interface Operation {
  op: 'add' | 'remove' | 'replace' | 'move' | 'copy' | 'test';
  path: string;
  from?: string;
  value?: unknown;
}

/** The 422 error for an operation that can't be applied. */
const refused = (): ApiError =>
  apiError(422, 'Invalid', 'the server rejected our request due to an error in our request', {});

const MAX_OPERATIONS = 10_000;

/**
 * JSON patch on a copy, as the library of the API server (evanphx/json-patch v4) applies it: `replace` may add a key, a
 * negative index counts from the end, and the text before the first `/` of a path is ignored.
 * @throws ApiError 400 malformed, 413 too many operations, 422 when an operation can't be applied or a test fails
 */
export function applyJsonPatch(target: unknown, patch: unknown): unknown {
  if (!Array.isArray(patch)) throw badRequest('json: cannot unmarshal object into Go value of type jsonpatch.Patch');
  if (patch.length > MAX_OPERATIONS) {
    const message = `The allowed maximum operations in a JSON patch is ${MAX_OPERATIONS}, got ${patch.length}`;
    throw apiError(413, 'RequestEntityTooLarge', `Request entity too large: ${message}`, {});
  }
  const root = { document: deepCopy(target) };
  for (const operation of patch) applyOperation(root, checkedOperation(operation));
  return root.document;
}

function checkedOperation(operation: unknown): Operation {
  const fields = operation as Operation | null;
  const isReadable =
    isObject(fields) &&
    [fields.op, fields.path, fields.from].every((field) => ['string', 'undefined'].includes(typeof field));
  if (!isReadable)
    throw badRequest('error decoding patch: json: cannot unmarshal into Go value of type handlers.jsonPatchOp');
  return fields as Operation;
}

function applyOperation(root: { document: unknown }, { op, path, from, value = null }: Operation): void {
  switch (op) {
    case 'add':
      return add(root, path, deepCopy(value));
    case 'remove':
      return remove(root, path);
    case 'replace':
      return replace(root, path, deepCopy(value));
    case 'move': {
      const moved = read(root, from);
      remove(root, from);
      return add(root, path, moved);
    }
    case 'copy':
      return add(root, path, deepCopy(read(root, from)));
    case 'test':
      // A test of an absent field against null passes.
      if (!deepEqual(path === '' ? root.document : read(root, path), value)) throw refused();
      return;
    default:
      throw refused();
  }
}

type Container = Record<string, unknown> | unknown[];

/** Finds the parent of a path, which must exist. */
function locate({ document }: { document: unknown }, path: string | undefined): { parent: Container; key: string } {
  const parts = (path ?? '')
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
  const key = parts.pop();
  if (key === undefined) throw refused();
  let parent = document;
  for (const part of parts) parent = child(containerOf(parent), part);
  return { parent: containerOf(parent), key };
}

function containerOf(value: unknown): Container {
  if (typeof value !== 'object' || value === null) throw refused();
  return value as Container;
}

/** An absent key of an object reads as null. */
function child(container: Container, key: string): unknown {
  if (Array.isArray(container)) return container[index(key, container.length, container.length - 1)];
  return Object.hasOwn(container, key) ? container[key] : null;
}

function index(key: string, length: number, max: number): number {
  const number = /^[-+]?\d+$/.test(key) ? Number(key) : NaN;
  const position = number < 0 ? number + length : number;
  if (!(position >= 0 && position <= max)) throw refused();
  return position;
}

function read(root: { document: unknown }, path: string | undefined): unknown {
  const { parent, key } = locate(root, path);
  return child(parent, key);
}

function replace(root: { document: unknown }, path: string, value: unknown): void {
  if (path === '') {
    root.document = containerOf(value);
    return;
  }
  const { parent, key } = locate(root, path);
  if (Array.isArray(parent)) parent[index(key, parent.length, parent.length - 1)] = value;
  else setField(parent, key, value);
}

function add(root: { document: unknown }, path: string, value: unknown): void {
  const { parent, key } = locate(root, path);
  if (!Array.isArray(parent)) setField(parent, key, value);
  else if (key === '-') parent.push(value);
  else parent.splice(index(key, parent.length + 1, parent.length), 0, value);
}

function remove(root: { document: unknown }, path: string | undefined): void {
  const { parent, key } = locate(root, path);
  if (Array.isArray(parent)) parent.splice(index(key, parent.length, parent.length - 1), 1);
  else if (Object.hasOwn(parent, key)) delete parent[key];
  else throw refused();
}

/** Assigning `__proto__` would replace the prototype. */
const setField = (parent: Record<string, unknown>, key: string, value: unknown): void =>
  void Object.defineProperty(parent, key, { value, writable: true, enumerable: true, configurable: true });
