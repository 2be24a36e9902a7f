import { isObject, type Json, type JsonObject } from './scenario.js';

/** The part of a response that is compared. */
export interface Answer {
  /** The scenario and the request, for people. */
  request: string;
  status: number;
  headers?: Record<string, string>;
  body?: Json;
}

const HEADERS = ['retry-after', 'warning'];

/** Fields whose values differ between two runs on the same cluster. */
const VOLATILE = new Set([
  'uid',
  'resourceVersion',
  'creationTimestamp',
  'deletionTimestamp',
  'managedFields',
  'lastTransitionTime',
  'lastProbeTime',
  'lastHeartbeatTime',
  'phaseTransitionTimestamp',
  'startTimestamp',
  'endTimestamp',
  'startTime',
  'startedAt',
  'finishedAt',
  'buildDate',
  'goVersion',
  'gitCommit',
  'gitTreeState',
  'platform',
]);

const PATTERNS: readonly (readonly [RegExp, string])[] = [
  [/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '<uid>'],
  [/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, '<time>'],
  [/\bv\d+\.\d+\.\d+[-\w.+]*/g, '<version>'],
  [/(virt-launcher-[a-z0-9-]+?|migrate-vm-[a-z0-9-]*?)-[bcdfghjklmnpqrstvwxz2456789]{5}\b/g, '$1-<suffix>'],
  [/resource version: \d+, current: \d+/g, 'resource version: <version>, current: <version>'],
];

/** Removes uids, times, versions and the name of the namespace. */
export function normalizedBody(text: string, namespace: string, only?: readonly string[]): Json | undefined {
  const body = parsed(text);
  const kept = only && isObject(body) ? picked(body, only) : body;
  if (only && Object.keys(kept ?? {}).length === 0 && only.length === 0) return undefined;
  return normalized(kept, namespace);
}

export function keptHeaders(headers: Record<string, string | string[] | undefined>): Record<string, string> {
  return Object.fromEntries(
    HEADERS.flatMap((name) => (headers[name] === undefined ? [] : [[name, String(headers[name])]])),
  );
}

function parsed(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return text;
  }
}

function normalized(value: Json, namespace: string): Json {
  if (typeof value === 'string') {
    const text = value.replaceAll(namespace, '<namespace>');
    return PATTERNS.reduce((result, [pattern, name]) => result.replace(pattern, name), text);
  }
  if (Array.isArray(value)) return value.map((item) => normalized(item, namespace));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => !VOLATILE.has(key))
      .map(([key, field]) => [normalized(key, namespace), normalized(field, namespace)]),
  );
}

/**
 * The value at a path such as `status.conditions.0.type`; an item of a list of conditions may also be given by its
 * type.
 */
export function valueAt(body: Json | undefined, path: string): Json | undefined {
  let value = body;
  for (const part of path.split('.')) {
    if (Array.isArray(value)) {
      value = /^\d+$/.test(part) ? value[Number(part)] : value.find((item) => isObject(item) && item['type'] === part);
    } else value = isObject(value) ? value[part] : undefined;
  }
  return value;
}

const picked = (body: JsonObject, only: readonly string[]): JsonObject =>
  Object.fromEntries(only.map((path) => [path, valueAt(body, path) ?? null]));
