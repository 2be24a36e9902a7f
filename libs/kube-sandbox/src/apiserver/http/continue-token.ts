import { badRequest, expired } from '../api-error.js';
import type { ObjectKey } from '../kube-object.js';

/** The start of the next page, and the revision that all pages of a list share. */
export interface ContinueToken {
  revision: number;
  after: ObjectKey;
}

const VERSION = 'meta.k8s.io/v1';

export function encodeContinue({ revision, after }: ContinueToken): string {
  const start = `${after.namespace ?? ''}/${after.name}\u0000`;
  return Buffer.from(JSON.stringify({ v: VERSION, rv: revision, start })).toString('base64url');
}

/** @throws ApiError 400 */
export function decodeContinue(text: string): ContinueToken {
  const { v, rv, start } = parse(text);
  const [, namespace = '', name] = /^([^/]*)\/([^/]+)\u0000$/.exec(String(start)) ?? [];
  if (v !== VERSION || typeof rv !== 'number' || name === undefined)
    throw badRequest('continue key is not valid: incorrect encoded start resourceVersion');
  return { revision: rv, after: { ...(namespace && { namespace }), name } };
}

function parse(text: string): { v?: unknown; rv?: unknown; start?: unknown } {
  try {
    return JSON.parse(Buffer.from(text, 'base64url').toString('utf8')) as object;
  } catch {
    throw badRequest('continue key is not valid: unable to decode');
  }
}

export const continueTooOld = () =>
  expired(
    'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.',
  );
