import type { OpenAPIObject } from '@nestjs/swagger';

const METHODS = ['post', 'patch'] as const;
const HEADER = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description:
    'A random text, such as a UUID. The same request with the same key gets the first answer for 24 hours, and is carried out once.',
  schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[\\x21-\\x7e]+$' },
} as const;

/** Adds the header that every POST and PATCH accepts. */
export function withIdempotencyKey(paths: OpenAPIObject['paths']): OpenAPIObject['paths'] {
  for (const item of Object.values(paths))
    for (const method of METHODS) {
      const operation = item[method];
      if (operation) operation.parameters = [...(operation.parameters ?? []), HEADER];
    }
  return paths;
}
