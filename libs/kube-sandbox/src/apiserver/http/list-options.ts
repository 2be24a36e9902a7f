import { apiError, badRequest, expired, timeout } from '../api-error.js';
import { parseFieldSelector, type FieldSelector } from '../field-selector.js';
import { parseLabelSelector, type LabelSelector } from '../label-selector.js';
import type { KubeObject } from '../kube-object.js';
import type { ResourceDefinition } from '../resource-definition.js';
import { decodeContinue, type ContinueToken } from './continue-token.js';

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
  /** A past revision; undefined: the current one. */
  exactRevision?: number;
}

const listOptionsError = (field: string, why: string) =>
  apiError(422, 'Invalid', `ListOptions.meta.k8s.io "" is invalid: ${field}: ${why}`, {
    group: 'meta.k8s.io',
    kind: 'ListOptions',
    causes: [{ reason: 'FieldValueForbidden', message: why, field }],
  });

/** @throws ApiError 400, 410, 422, 504 */
export function parseListOptions(query: URLSearchParams, currentRevision: number): ListOptions {
  const limit = Number(query.get('limit') ?? 0) || undefined;
  const revision = query.get('resourceVersion') ?? '';
  const match = query.get('resourceVersionMatch');
  const token = query.get('continue');
  if (match && !revision)
    throw listOptionsError(
      'resourceVersionMatch',
      'Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided',
    );
  if (match && !['Exact', 'NotOlderThan'].includes(match)) {
    throw listOptionsError(
      'resourceVersionMatch',
      `Unsupported value: "${match}": supported values: "Exact", "NotOlderThan", ""`,
    );
  }
  if (match === 'Exact' && revision === '0') {
    throw listOptionsError(
      'resourceVersionMatch',
      'Forbidden: resourceVersionMatch "exact" is forbidden for resourceVersion "0"',
    );
  }
  if (token) {
    if (revision && revision !== '0')
      throw badRequest('specifying resource version is not allowed when using continue');
    return { limit, token: decodeContinue(token) };
  }
  const asked = parseRevision(revision);
  if (asked > currentRevision) throw tooLargeRevision(asked, currentRevision);
  // resourceVersion=0 reads from the watch cache, which ignores the limit.
  if (revision === '0') return {};
  const exact = match === 'Exact' || (asked > 0 && limit !== undefined && !match);
  return { limit, ...(exact && { exactRevision: asked }) };
}

export function parseRevision(text: string): number {
  const revision = text === '' ? 0 : Number(text);
  if (!Number.isSafeInteger(revision) || revision < 0)
    throw badRequest(`Invalid value: "${text}": strconv.ParseUint: parsing "${text}": invalid syntax`);
  return revision;
}

const tooLargeRevision = (asked: number, current: number) =>
  timeout(`Too large resource version: ${asked}, current: ${current}`, [
    { reason: 'ResourceVersionTooLarge', message: 'Too large resource version' },
  ]);

export const listTooOld = () => expired('The resourceVersion for the provided list is too old.');
