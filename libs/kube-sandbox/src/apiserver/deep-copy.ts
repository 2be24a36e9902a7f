/** A deep copy of JSON data; four times as fast as `structuredClone` on such data. */
export function deepCopy<T>(value: T): T {
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return value.map(deepCopy) as T;
  const copy: Record<string, unknown> = {};
  for (const key in value) {
    const field: unknown = (value as Record<string, unknown>)[key];
    if (field !== undefined) copy[key] = deepCopy(field);
  }
  return copy as T;
}

/** A copy of JSON data that shares its frozen parts, which are parts of stored objects and never change. */
export function copyUnfrozen<T>(value: T): T {
  if (value === null || typeof value !== 'object' || Object.isFrozen(value)) return value;
  if (Array.isArray(value)) return value.map(copyUnfrozen) as T;
  const copy: Record<string, unknown> = {};
  for (const key in value) {
    const field: unknown = (value as Record<string, unknown>)[key];
    if (field !== undefined) copy[key] = copyUnfrozen(field);
  }
  return copy as T;
}

/** Freezes JSON data deeply and returns it. */
export function deepFreeze<T>(value: T): T {
  if (isUnfrozen(value)) freezeParts(value);
  return value;
}

// Checking each part before the call, and lists by index, makes it three times as fast.
function freezeParts(value: object): void {
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) {
      const item: unknown = value[index];
      if (isUnfrozen(item)) freezeParts(item);
    }
  } else {
    for (const key in value) {
      const field: unknown = (value as Record<string, unknown>)[key];
      if (isUnfrozen(field)) freezeParts(field);
    }
  }
  Object.freeze(value);
}

const isUnfrozen = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Object.isFrozen(value);

/** Compares JSON data; a field that is undefined counts as absent. */
export function deepEqual(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null) return false;
  if (Array.isArray(left) !== Array.isArray(right)) return false;
  if (Array.isArray(left) && Array.isArray(right)) {
    return left.length === right.length && left.every((item, index) => deepEqual(item, right[index]));
  }
  const a = left as Record<string, unknown>;
  const b = right as Record<string, unknown>;
  for (const key in a) if (!deepEqual(a[key], b[key])) return false;
  for (const key in b) if (b[key] !== undefined && a[key] === undefined) return false;
  return true;
}

/**
 * Replaces the parts of a draft that equal those of the previous object by these, so that revisions of an object share
 * memory and later comparisons stop at identical parts.
 * @returns the previous object itself when nothing differs
 */
export function shareUnchanged<T>(previous: T, draft: T): T {
  if (previous === draft || !isObject(previous) || !isObject(draft)) return draft;
  // A part of another stored object, which must not be modified.
  if (Object.isFrozen(draft)) return deepEqual(previous, draft) ? previous : draft;
  const isList = Array.isArray(draft);
  if (isList !== Array.isArray(previous)) return draft;
  const same = isList ? shareItems(previous as unknown as unknown[], draft) : shareFields(previous, draft);
  return same ? previous : draft;
}

function shareItems(previous: unknown[], draft: unknown[]): boolean {
  let same = previous.length === draft.length;
  for (let index = 0; index < draft.length; index++) {
    const shared = shareUnchanged(previous[index], draft[index]);
    draft[index] = shared;
    if (shared !== previous[index]) same = false;
  }
  return same;
}

function shareFields(previous: object, draft: object): boolean {
  const before = previous as Record<string, unknown>;
  const after = draft as Record<string, unknown>;
  let same = true;
  for (const key in after) {
    const field = after[key];
    const shared = shareUnchanged(before[key], field);
    if (shared !== field) after[key] = shared;
    if (shared !== before[key]) same = false;
  }
  if (same) for (const key in before) if (before[key] !== undefined && after[key] === undefined) return false;
  return same;
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;
