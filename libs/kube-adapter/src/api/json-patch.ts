import { isDeepStrictEqual } from 'node:util';

/** @see KubeApi.jsonPatch */
export interface JsonPatchOperation {
  readonly op: 'test' | 'add' | 'remove';
  readonly path: string;
  readonly value?: unknown;
}

/**
 * Whether a patch was applied to an object: it has the values that the patch sets, lacks those that it removes, and no
 * longer has those that it replaces. The server may have added defaults.
 */
export const isPatched = (object: unknown, patch: readonly JsonPatchOperation[]): boolean =>
  patch.every(({ op, path, value }) => {
    if (op === 'test') return true;
    const present = valueAt(object, path);
    if (op === 'remove') return present === undefined;
    const replaced = patch.find((other) => other.op === 'test' && other.path === path);
    const isReplaced =
      !replaced || !isDeepStrictEqual(present ?? null, replaced.value) || isSame(replaced.value, value);
    return isReplaced && contains(present, value);
  });

/**
 * The object after a patch of fields, without its tests. The original stays as it is.
 * @throws Error for a path into a list
 */
export function patchedObject<T>(object: T, patch: readonly JsonPatchOperation[]): T {
  const result = structuredClone(object);
  for (const { op, path, value } of patch) {
    if (op === 'test') continue;
    const keys = keysOf(path);
    const last = keys.pop() ?? '';
    let parent: unknown = result;
    for (const key of keys) parent = isRecord(parent) ? (parent[key] ??= {}) : undefined;
    if (!isRecord(parent) || Array.isArray(parent)) throw new Error(`${path} is not a field of an object.`);
    if (op === 'remove') delete parent[last];
    else parent[last] = structuredClone(value);
  }
  return result;
}

/** As in JSON, which has no undefined. */
const isSame = (a: unknown, b: unknown): boolean => contains(a, b) && contains(b, a);

/** https://www.rfc-editor.org/rfc/rfc6901 */
function valueAt(object: unknown, pointer: string): unknown {
  return keysOf(pointer).reduce<unknown>(
    (value, key) => (isRecord(value) && Object.hasOwn(value, key) ? value[key] : undefined),
    object,
  );
}

const keysOf = (pointer: string): string[] =>
  pointer
    .split('/')
    .slice(1)
    .map((key) => key.replace(/~1/g, '/').replace(/~0/g, '~'));

function contains(present: unknown, wanted: unknown): boolean {
  if (Array.isArray(wanted))
    return (
      Array.isArray(present) &&
      present.length === wanted.length &&
      wanted.every((value, index) => contains(present[index], value))
    );
  if (!isRecord(wanted)) return isDeepStrictEqual(present, wanted);
  return (
    isRecord(present) &&
    Object.entries(wanted).every(([key, value]) => value === undefined || contains(present[key], value))
  );
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;
