import 'reflect-metadata';
import { join } from 'node:path';
import { ERROR_CODES, POWER_ACTIONS } from '@headgate/domain-contracts';
import { CONTAINER_ACTIONS } from '@headgate/instances';
import { previewApplication } from './preview-application.js';
import { publishDocument } from './publish-document.js';
import { readDescriptions } from './read-descriptions.js';

interface Schema {
  readonly $ref?: string;
  readonly description?: string;
  readonly type?: string | string[];
  readonly enum?: readonly unknown[];
  readonly additionalProperties?: unknown;
  readonly properties?: Record<string, Schema>;
}

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly description?: string;
  readonly schema: Schema;
}

interface Operation {
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly required?: boolean };
  readonly responses: Record<string, { readonly content?: Record<string, unknown>; readonly headers?: object }>;
  readonly security?: readonly object[];
  readonly 'x-event-stream'?: { readonly events: object };
}

interface Document {
  readonly servers: readonly { readonly url: string }[];
  readonly security: readonly object[];
  readonly paths: Record<string, Record<string, Operation>>;
  readonly components: { readonly schemas: Record<string, Schema>; readonly securitySchemes: object };
}

/** The unit of a number, or that it is a count, a position, an identifier, a time or a part of a whole. */
const UNIT =
  /\b(bytes|seconds|milliseconds|millicores|days|characters|number of|the number|from 0 to 1|status|entries|how many)\b/i;

const app = await previewApplication();
const descriptions = readDescriptions(join(import.meta.dirname, '../../../../libs/api-contracts/src'));
const document = JSON.parse(JSON.stringify(publishDocument(app, '1', descriptions))) as Document;
await app.close();

const operations = Object.entries(document.paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]) => ({ route: `${method.toUpperCase()} ${path}`, operation })),
);
const routesWhere = (test: (operation: Operation) => boolean): string[] =>
  operations.filter(({ operation }) => test(operation)).map(({ route }) => route);
const operationOf = (route: string): Operation => {
  const found = operations.find((one) => one.route === route);
  if (!found) throw new Error(`The document has no ${route}.`);
  return found.operation;
};
const properties = Object.entries(document.components.schemas).flatMap(([name, schema]) =>
  Object.entries(schema.properties ?? {}).map(([field, inner]) => ({ field: `${name}.${field}`, schema: inner })),
);
const isNumber = ({ type }: Schema): boolean => [type].flat().some((one) => one === 'integer' || one === 'number');
const fieldOf = (name: string, field: string): Schema | undefined =>
  document.components.schemas[name]?.properties?.[field];

describe('the published API document', () => {
  test('describes every schema and every property, and the unit of every number', () => {
    expect(properties.length).toBeGreaterThan(500);
    const schemas = Object.entries(document.components.schemas).filter(([, { description }]) => !description);
    expect(schemas.map(([name]) => name)).toEqual([]);
    expect(properties.filter(({ schema }) => !schema.description).map(({ field }) => field)).toEqual([]);
    const withoutUnit = properties.filter(({ schema }) => isNumber(schema) && !UNIT.test(schema.description ?? ''));
    expect(withoutUnit.map(({ field, schema }) => `${field}: ${schema.description}`)).toEqual([]);
  });

  test('describes every parameter', () => {
    const parameters = operations.flatMap(({ route, operation }) =>
      (operation.parameters ?? []).map(({ name, description }) => ({ parameter: `${route} ${name}`, description })),
    );
    expect(parameters.length).toBeGreaterThan(200);
    expect(parameters.filter(({ description }) => !description).map(({ parameter }) => parameter)).toEqual([]);
  });

  test('types the switches and numbers of queries', () => {
    const typeOf = (route: string, parameter: string) =>
      operationOf(route).parameters?.find(({ name }) => name === parameter)?.schema;
    expect(typeOf('POST /api/vms', 'dryRun')).toMatchObject({ type: 'boolean' });
    expect(typeOf('GET /api/vms', 'limit')).toMatchObject({ type: 'integer', minimum: 1, maximum: 10_000 });
    expect(typeOf('GET /api/ext/journal', 'limit')).toMatchObject({ type: 'integer', minimum: 1, maximum: 1000 });
    expect(typeOf('POST /api/datavolumes', 'offset')).toMatchObject({ type: 'integer', minimum: 0 });
  });

  test('lists the actions and the error codes', () => {
    const actions = (route: string) =>
      operationOf(route).parameters?.find(({ name }) => name === 'action')?.schema.enum;
    expect(actions('POST /api/vms/{ns}/{name}/{action}')).toEqual(POWER_ACTIONS);
    expect(actions('POST /api/cts/{ns}/{name}/{action}')).toEqual(CONTAINER_ACTIONS);
    expect(fieldOf('ErrorView', 'code')?.enum).toEqual(ERROR_CODES);
    expect(fieldOf('FolderActionDto', 'action')?.enum).toContain('resume');
  });

  test('has a body only where the contract has one', () => {
    const withBody = routesWhere(({ requestBody }) => requestBody !== undefined);
    expect(
      withBody.filter((route) => /^(GET|DELETE) |\/\{action\}$|\/restore$|\/api\/doctor\/fix$|\/install$/.test(route)),
      // A backup becomes a VM whose name the request has. It is no route of the contract.
    ).toEqual(['POST /api/ext/backups/targets/{target}/points/{point}/restore']);
    const optional = routesWhere(({ requestBody }) => requestBody !== undefined && requestBody.required !== true);
    expect(optional).toEqual(['POST /api/vms/{ns}/{name}/migrate', 'POST /api/vms/{ns}/{name}/snapshots']);
  });

  test('has maps with the type of their values', () => {
    expect(fieldOf('FoldersView', 'errors')).toMatchObject({ additionalProperties: { type: 'string' } });
    expect(fieldOf('ContextCapabilitiesView', 'abilities')?.additionalProperties).toEqual({
      anyOf: [{ type: 'boolean', const: true }, { type: 'string' }],
    });
    const untyped = properties.filter(
      ({ schema }) => schema.type === 'object' && !schema.$ref && schema.additionalProperties === undefined,
    );
    expect(untyped.map(({ field }) => field)).toEqual([]);
  });

  test('types a list as a list, with its event stream as an extension', () => {
    const streams = routesWhere((operation) => operation['x-event-stream'] !== undefined);
    expect(streams).toEqual([
      'GET /api/cts',
      'GET /api/ext/journal/stream',
      'GET /api/ext/stream',
      'GET /api/tasks/{id}',
      'GET /api/vms',
    ]);
    const { responses, ...list } = operationOf('GET /api/vms');
    expect(responses['200']?.content).toEqual({
      'application/json': { schema: { type: 'array', items: { $ref: '#/components/schemas/VmView' } } },
    });
    expect(Object.keys(list['x-event-stream']?.events ?? {})).toEqual(['status', 'snapshot', 'changed', 'removed']);
  });

  test('has the headers that clients need', () => {
    const headers = (route: string) => Object.keys(operationOf(route).responses['200']?.headers ?? {});
    expect(headers('GET /api/vms')).toEqual(['Svc-Cursor', 'ETag', 'Svc-Partial', 'Svc-Gap']);
    expect(headers('GET /api/ext/journal')).toEqual(['Svc-Cursor']);
    expect(headers('GET /api/vms/{ns}/{name}/export')).toContain('Svc-Checkpoint');
    expect(operationOf('GET /api/vms').responses).toHaveProperty('304');
  });

  test('has the consoles, and no page', () => {
    for (const path of ['/api/vnc/{ns}/{name}', '/api/tty/{ns}/{name}', '/api/ext/vms/{ns}/{name}/ports/{port}'])
      expect(Object.keys(operationOf(`GET ${path}`).responses)).toEqual(['101', '4XX', '5XX']);
    const paths = Object.keys(document.paths);
    expect(paths.filter((path) => ['/', '/app.js', '/style.css', '/icons.js', '/api/ext/docs'].includes(path))).toEqual(
      [],
    );
    expect(paths).toEqual(expect.arrayContaining(['/healthz', '/metrics', '/api/ext/openapi.json']));
  });

  test('names a server and the ways to authenticate, which the probes do not need', () => {
    expect(document.servers.length).toBeGreaterThan(0);
    expect(document.security.flatMap((one) => Object.keys(one)).sort()).toEqual(
      Object.keys(document.components.securitySchemes).sort(),
    );
    expect(routesWhere(({ security }) => security?.length === 0)).toEqual(['GET /healthz', 'GET /readyz']);
  });

  test('describes the error of every route', () => {
    expect(routesWhere(({ responses }) => !responses['4XX'] || !responses['5XX'])).toEqual([]);
  });
});
