import { notAcceptable } from '../api-error.js';

/** The requested representation: objects, rows of a table, or metadata only. */
export type Presentation = { as: 'object' } | { as: 'Table' | 'PartialObjectMetadata'; version: string };

interface MediaType {
  type: string;
  parameters: Map<string, string>;
}

const ACCEPTED = ['application/json', 'application/yaml'];

export function parseAccept(header: string | undefined): MediaType[] {
  return (header || '*/*').split(',').map((range) => {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim());
    return {
      type: type.toLowerCase(),
      parameters: new Map(parameters.map((each) => each.split('=', 2) as [string, string])),
    };
  });
}

/** Chooses the first acceptable media type. @throws ApiError 406 */
export function presentationOf(header: string | undefined): Presentation {
  for (const { type, parameters } of parseAccept(header)) {
    if (type !== 'application/json' && type !== '*/*' && type !== 'application/*') continue;
    const as = parameters.get('as');
    if (as === undefined) return { as: 'object' };
    const version = parameters.get('v') ?? 'v1';
    if (parameters.get('g') !== 'meta.k8s.io' || !['v1', 'v1beta1'].includes(version)) continue;
    if (as === 'Table') return { as, version };
    if (as === 'PartialObjectMetadata' || as === 'PartialObjectMetadataList')
      return { as: 'PartialObjectMetadata', version };
  }
  throw notAcceptable(ACCEPTED);
}

/**
 * Whether an aggregated server with the router go-restful serves a client with this Accept header from a route that
 * produces these types. Only the full wildcard matches a route that declares no type.
 */
export const acceptsAny = (header: string | undefined, produces: readonly string[]): boolean =>
  parseAccept(header).some(({ type }) => type === '*/*' || produces.includes(type));
