import 'reflect-metadata';
import { openapiDocument } from '../reference/openapi-document.js';
import { previewApplication } from '../reference/preview-application.js';
import { Edge } from '../testing/edge.js';
import type { ApiDocument, Schema } from '../testing/fuzz/request-arbitrary.js';

/** Every property that an empty object has already. */
const INHERITED = Object.getOwnPropertyNames(Object.prototype);
/** Longer than Fastify's default for a parameter, than any name, and than a file name. */
const LENGTHS = [101, 301, 5000];
/** What a message about null must not say: a bound is not why null is wrong. */
const BOUND = /greater|less|shorter|longer|at least|not equal|unique/;

interface Field {
  readonly path: readonly string[];
  readonly isNullable: boolean;
}

interface Operation {
  readonly method: string;
  /** With valid values in place of the parameters. */
  readonly path: string;
  /** The path with the parameters of the query that a request must have. */
  readonly target: string;
  readonly pattern: string;
  readonly parameters: readonly string[];
  readonly query: readonly string[];
  /** Of the body, also those of objects in it. */
  readonly fields: readonly Field[];
  /** The objects of the body: the whole, and each field that is one. */
  readonly objects: readonly (readonly string[])[];
}

const app = await previewApplication();
const document = openapiDocument(app, '0') as unknown as ApiDocument;
await app.close();

const resolved = (schema: Schema): Schema =>
  schema.$ref ? (document.components.schemas[schema.$ref.split('/').at(-1) ?? ''] ?? {}) : schema;

function fieldsOf(schema: Schema, parent: readonly string[] = []): Field[] {
  return Object.entries(resolved(schema).properties ?? {}).flatMap(([name, inner]) => {
    const path = [...parent, name];
    const isNullable = (inner.anyOf ?? [inner]).some(({ type }) => [type].flat().includes('null'));
    return [{ path, isNullable }, ...fieldsOf(inner, path)];
  });
}

/** Valid values of the parameters for which a letter is none. */
const VALID: Readonly<Record<string, string>> = { ns: 'default', name: 'web', target: '0123456789abcdef' };

const fill = (pattern: string, values: Readonly<Record<string, string>> = {}): string =>
  pattern.replace(/\{(\w+)\}/g, (_match, name: string) => values[name] ?? VALID[name] ?? 'a');

const operations: readonly Operation[] = Object.entries(document.paths).flatMap(([pattern, methods]) =>
  Object.entries(methods).map(([method, operation]) => {
    const fields = fieldsOf(operation.requestBody?.content['application/json']?.schema ?? {});
    const query = (operation.parameters ?? []).filter((one) => one.in === 'query');
    const required = query.filter((one) => one.required === true).map(({ name }) => `${name}=a`);
    const nested = fields.map(({ path }) => path.slice(0, -1)).filter((path) => path.length > 0);
    return {
      method: method.toUpperCase(),
      path: fill(pattern),
      target: [fill(pattern), ...(required.length > 0 ? [required.join('&')] : [])].join('?'),
      pattern,
      query: query.map(({ name }) => name),
      parameters: [...pattern.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name),
      fields,
      objects: [[], ...new Map(nested.map((path) => [path.join('.'), path])).values()],
    };
  }),
);

/**
 * A body in which the object at a path has one field. JSON, because an object literal can't have an own `__proto__`.
 */
const bodyWith = (path: readonly string[], json: string): string =>
  path.reduceRight((inner, name) => `{${JSON.stringify(name)}:${inner}}`, json);

const dotted = (path: readonly string[]): string => path.join('.');

describe('every route of the API document', () => {
  let edge: Edge;
  beforeAll(async () => void (edge = await new Edge().open()));
  afterAll(() => edge.close());

  const problemsOf = async (method: string, path: string, body: string) => {
    const { status, json } = await edge.send(method, path, body);
    const { fields = [] } = (json['details'] ?? {}) as { fields?: { field: string; message: string }[] };
    return { status, error: json.error, fields };
  };

  // Only agents may use their protocol, which has bodies of its own.
  const writing = operations.filter(({ method, pattern }) => method !== 'GET' && pattern !== '/api/ext/mcp');

  test.each(writing)('refuses the names of Object.prototype in the body: $method $pattern', async (operation) => {
    const { method, target, objects } = operation;
    for (const name of INHERITED)
      for (const object of objects) {
        const { status, error } = await problemsOf(method, target, bodyWith([...object, name], '"x"'));
        expect([name, object, status]).toEqual([name, object, 400]);
        expect(error).toContain(`${dotted([...object, name])} is not a known field.`);
      }
  });

  const withFields = writing.filter(({ fields }) => fields.length > 0);

  test.each(withFields)('says that null is not of the type: $method $pattern', async ({ method, target, fields }) => {
    for (const field of fields.filter(({ isNullable }) => !isNullable)) {
      const { status, fields: problems } = await problemsOf(method, target, bodyWith(field.path, 'null'));
      const name = dotted(field.path);
      expect([name, status]).toEqual([name, 400]);
      const problem = problems.find((one) => one.field === name);
      expect([name, problem?.message]).toEqual([name, expect.stringMatching(/must|needs/)]);
      expect(problem?.message).not.toMatch(BOUND);
    }
  });

  const refQueries = operations.filter(({ query }) => query.includes('ref'));

  test.each(refQueries)('refuses a query with a bad ref: $method $path', async ({ method, path }) => {
    for (const ref of ['bad', 'vm/lab/web', 'vm/lab/default/Bad', 'pod/lab/default/web', '']) {
      const { status, json } = await edge.send(method, `${path}?ref=${ref}`);
      expect([ref, status, json.code]).toEqual([ref, 400, 'INVALID_REF']);
    }
  });

  test.each([
    ['/api/folders/members', { path: 'prod', ref: 'bad' }],
    ['/api/ext/guest/password', { ref: 'bad', user: 'root', password: 'new-password' }],
    ['/api/ext/guest/command', { ref: 'bad', path: '/bin/true' }],
    ['/api/ext/bulk', { action: 'stop', refs: ['bad'] }],
    ['/api/ext/twins', { action: 'stop', refs: ['bad'] }],
    ['/api/move', { ref: 'bad', toBackend: 'memory' }],
    ['/api/move/preflight', { ref: 'bad', toBackend: 'memory' }],
    ['/api/move/preflight', { refs: ['bad'], toBackend: 'memory' }],
  ])('refuses a body with a bad ref: POST %s', async (path, body) => {
    const { status, json } = await edge.send('POST', path, body);
    expect([status, json.code]).toEqual([400, 'INVALID_REF']);
  });

  test.each(operations.filter(({ parameters }) => parameters.length > 0))(
    'says that a parameter of the path is too long or names nothing: $method $pattern',
    async ({ method, pattern, parameters }) => {
      for (const parameter of parameters)
        for (const length of LENGTHS) {
          const path = fill(pattern, { [parameter]: 'a'.repeat(length) });
          const { status, json } = await edge.send(method, path);
          // Nothing is known of login providers and passkeys before a login is configured.
          const statuses = /^\/api\/ext\/login\/(providers|passkeys)\//.test(pattern) ? [400, 501] : [400, 404];
          expect([parameter, length, statuses]).toEqual([parameter, length, expect.arrayContaining([status])]);
          expect(json.error).not.toMatch(/JSON|understood/);
          expect(json.error.length).toBeLessThan(400);
        }
    },
  );
});
