import { badRequest, expired, fieldForbidden, fieldNotSupported, invalidOptions, timeout } from '../api-error.js';
import type { SandboxClock } from '../clock.js';
import { parseFieldSelector, type FieldSelector } from '../field-selector.js';
import { parseLabelSelector, type LabelSelector } from '../label-selector.js';
import type { KubeObject } from '../kube-object.js';
import type { ObjectStore } from '../object-store.js';
import type { ResourceDefinition } from '../resource-definition.js';
import { decodeContinue, type ContinueToken } from '../requests/continue-token.js';

/** The objects that a list or a watch selects. */
export interface Selection {
  namespace?: string;
  labels?: LabelSelector;
  fields?: FieldSelector;
}

export function parseSelection(
  query: URLSearchParams,
  namespace: string | undefined,
  definition: ResourceDefinition,
): Selection {
  const labels = query.get('labelSelector');
  const fields = query.get('fieldSelector');
  return {
    namespace,
    ...(labels && { labels: parseLabelSelector(labels) }),
    ...(fields && { fields: parseFieldSelector(fields, definition) }),
  };
}

export function selects({ namespace, labels, fields }: Selection, object: KubeObject): boolean {
  if (namespace !== undefined && object.metadata.namespace !== namespace) return false;
  return (!labels || labels(object.metadata.labels)) && (!fields || fields.matches(object));
}

export interface ListOptions {
  /** Objects per page; undefined: no limit. */
  limit?: number;
  token?: ContinueToken;
  /** The list must not be older than this revision. */
  atLeast?: number;
  /** A past revision; undefined: the current one. */
  exactRevision?: number;
}

const forbiddenMatch = (why: string) => invalidOptions('ListOptions', [fieldForbidden('resourceVersionMatch', why)]);

/** @throws ApiError 400, 410, 422 */
export function parseListOptions(query: URLSearchParams): ListOptions {
  const limit = parseLimit(query.get('limit') ?? '');
  const revision = query.get('resourceVersion') ?? '';
  const match = query.get('resourceVersionMatch');
  const token = query.get('continue');
  if (query.has('sendInitialEvents')) {
    throw invalidOptions('ListOptions', [
      fieldForbidden('sendInitialEvents', 'sendInitialEvents is forbidden for list'),
    ]);
  }
  if (match && !revision) throw forbiddenMatch('resourceVersionMatch is forbidden unless resourceVersion is provided');
  if (match && token) throw forbiddenMatch('resourceVersionMatch is forbidden when continue is provided');
  if (match && !['Exact', 'NotOlderThan'].includes(match)) {
    throw invalidOptions('ListOptions', [
      fieldNotSupported('resourceVersionMatch', match, ['Exact', 'NotOlderThan', '']),
    ]);
  }
  if (match === 'Exact' && revision === '0') {
    throw forbiddenMatch('resourceVersionMatch "exact" is forbidden for resourceVersion "0"');
  }
  if (token) {
    if (revision && revision !== '0')
      throw badRequest('specifying resource version is not allowed when using continue');
    return { limit, token: decodeContinue(token) };
  }
  const atLeast = parseRevision(revision, 'invalid resource version: resourceVersion: ');
  // resourceVersion=0 reads from the watch cache, which ignores the limit.
  if (revision === '0') return {};
  const exact = match === 'Exact' || (atLeast > 0 && limit !== undefined && !match);
  return { limit, atLeast, ...(exact && { exactRevision: atLeast }) };
}

/** Zero and negative numbers mean no limit. @throws ApiError 400 */
function parseLimit(text: string): number | undefined {
  if (!/^[+-]?\d*$/.test(text)) throw badRequest(`strconv.ParseInt: parsing "${text}": invalid syntax`);
  return Number(text) > 0 ? Number(text) : undefined;
}

/** `where` begins the message. @throws ApiError 400 */
export function parseRevision(text: string, where = ''): number {
  const revision = text === '' ? 0 : Number(text);
  if (!Number.isSafeInteger(revision) || revision < 0)
    throw badRequest(`${where}Invalid value: "${text}": strconv.ParseUint: parsing "${text}": invalid syntax`);
  return revision;
}

/** How long a server waits for a revision that it has not seen yet. */
const FRESHNESS_WAIT_MS = 3_000;

/**
 * Waits until the store has reached a revision, as the watch cache of a server that lags behind another does.
 * @throws ApiError 504
 */
export function waitForRevision(store: ObjectStore, clock: SandboxClock, revision: number): Promise<void> {
  if (revision <= store.revision) return Promise.resolve();
  return new Promise((resolve, reject) => {
    const unsubscribe = store.subscribe('*', () => {
      if (store.revision < revision) return;
      cancel();
      unsubscribe();
      resolve();
    });
    const cancel = clock.schedule(() => {
      unsubscribe();
      reject(tooLargeRevision(revision, store.revision));
    }, FRESHNESS_WAIT_MS);
  });
}

const tooLargeRevision = (asked: number, current: number) =>
  timeout(`Too large resource version: ${asked}, current: ${current}`, [
    { reason: 'ResourceVersionTooLarge', message: 'Too large resource version' },
  ]);

export const listTooOld = () => expired('The resourceVersion for the provided list is too old.');
