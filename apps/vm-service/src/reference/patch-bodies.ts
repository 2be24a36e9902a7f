import type { OpenAPIObject } from '@nestjs/swagger';
import { PATCH_TYPE } from '../platform/json-body.js';

type Body = { readonly content: Record<string, object> } | { readonly $ref: string };

/** Adds the content type of merge patches to the body of every PATCH. */
export function withPatchBodies(paths: OpenAPIObject['paths']): OpenAPIObject['paths'] {
  for (const { patch } of Object.values(paths)) {
    const body = patch?.requestBody as Body | undefined;
    if (body && 'content' in body) body.content[PATCH_TYPE] ??= { ...body.content['application/json'] };
  }
  return paths;
}
