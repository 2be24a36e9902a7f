import { deepCopy } from '../deep-copy.js';

/** RFC 7386: objects are merged, null removes, all other values, including lists, replace. Returns a copy. */
export function applyMergePatch(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return deepCopy(patch);
  const merged: Record<string, unknown> = isObject(target) ? { ...target } : {};
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete merged[name];
    else merged[name] = applyMergePatch(merged[name], value);
  }
  return deepCopy(merged);
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
