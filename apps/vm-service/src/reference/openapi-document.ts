import { RequestMethod, type Type } from '@nestjs/common';
import { HTTP_CODE_METADATA, METHOD_METADATA, PATH_METADATA, ROUTE_ARGS_METADATA } from '@nestjs/common/constants.js';
import { ErrorView, PlanView } from '@headgate/api-contracts';
import { answer, descriptionOf, type Answer } from '../platform/answers.decorator.js';
import { JsonSchemas, type DtoClass, type JsonSchema } from './json-schema.js';

/** Where a route's argument comes from, as Nest numbers it. */
const BODY = 3;
const QUERY = 4;
const PARAM = 5;

type Argument = { readonly from: number; readonly type: DtoClass };

/** The API document of the controllers, as OpenAPI 3.1. Every route must say what it answers. */
export function openapiDocument(controllers: readonly Type[], version: string): object {
  const schemas = new JsonSchemas();
  const paths: Record<string, Record<string, object>> = {};
  for (const controller of controllers) {
    for (const { path, method, handler, args } of routesOf(controller)) {
      (paths[path] ??= {})[method] = operation(schemas, `${controller.name}.${handler.name}`, method, handler, args);
    }
  }
  const error = schemas.refTo(ErrorView);
  return {
    openapi: '3.1.0',
    info: {
      title: 'Headgate VM service',
      version,
      description:
        'Virtual machines and containers on Kubernetes with KubeVirt and on libvirt. Consoles are WebSockets: /api/vnc/{ns}/{name} and /api/tty/{ns}/{name}.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    paths: sorted(paths),
    components: {
      schemas: sorted(Object.fromEntries(schemas.components)),
      responses: {
        Error: { description: 'Every refusal and failure.', content: { 'application/json': { schema: error } } },
      },
    },
  };
}

function routesOf(controller: Type) {
  const prefix = String(Reflect.getMetadata(PATH_METADATA, controller) ?? '');
  const names = Object.getOwnPropertyNames(controller.prototype).filter((name) => name !== 'constructor');
  return names.flatMap((name) => {
    const handler = (controller.prototype as Record<string, unknown>)[name] as
      ((...args: unknown[]) => unknown) | undefined;
    const path =
      typeof handler === 'function' ? (Reflect.getMetadata(PATH_METADATA, handler) as string | undefined) : undefined;
    if (handler === undefined || path === undefined) return [];
    const method = RequestMethod[Reflect.getMetadata(METHOD_METADATA, handler) as number]?.toLowerCase() ?? 'get';
    const full = `/${[prefix, path]
      .map((part) => part.replace(/^\/|\/$/g, ''))
      .filter(Boolean)
      .join('/')}`;
    return [{ path: full.replace(/:([A-Za-z]+)/g, '{$1}'), method, handler, args: argumentsOf(controller, name) }];
  });
}

function argumentsOf(controller: Type, name: string): Argument[] {
  const types = (Reflect.getMetadata('design:paramtypes', controller.prototype as object, name) ?? []) as DtoClass[];
  const from = (Reflect.getMetadata(ROUTE_ARGS_METADATA, controller, name) ?? {}) as Record<string, { index: number }>;
  return Object.entries(from).flatMap(([key, { index }]) => {
    // A decorator of our own has a random word there, which may begin with a digit.
    const source = /^(\d+):/.exec(key)?.[1];
    const type = types[index];
    return source && type ? [{ from: Number(source), type }] : [];
  });
}

function operation(
  schemas: JsonSchemas,
  id: string,
  method: string,
  handler: object,
  args: readonly Argument[],
): object {
  const description = descriptionOf(handler);
  if (!description) throw new Error(`${id} does not say what it answers: add @Describe`);
  const of = (from: number): DtoClass[] =>
    args.filter((arg) => arg.from === from && arg.type !== (String as unknown)).map(({ type }) => type);
  const parameters = [
    ...of(PARAM).flatMap((type) => schemas.fieldsOf(type).map((field) => ({ ...field, in: 'path', required: true }))),
    ...(args.some((arg) => arg.from === PARAM && arg.type === (String as unknown))
      ? [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }]
      : []),
    ...of(QUERY).flatMap((type) => schemas.fieldsOf(type).map((field) => ({ ...field, in: 'query' }))),
  ];
  const [body] = of(BODY);
  const fallback = Reflect.getMetadata(HTTP_CODE_METADATA, handler) as number | undefined;
  const rehearsal = parameters.some(({ name }) => name === 'dryRun') ? [answer(200, PlanView)] : [];
  return {
    operationId: id.replace('Controller', ''),
    summary: description.summary,
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(body
      ? {
          requestBody: {
            required: method === 'post',
            content: { 'application/json': { schema: schemas.refTo(body) } },
          },
        }
      : {}),
    responses: {
      ...responses(schemas, [...description.answers, ...rehearsal], fallback),
      default: { $ref: '#/components/responses/Error' },
    },
  };
}

/** A status may come in two forms, such as an answer and the plan of its rehearsal. */
function responses(
  schemas: JsonSchemas,
  answers: readonly Answer[],
  fallback: number | undefined,
): Record<string, object> {
  const statuses = [...new Set(answers.map(({ status }) => status || fallback || 200))];
  return Object.fromEntries(
    statuses.map((status) => {
      const media = new Map<string, JsonSchema[]>();
      for (const one of answers.filter((candidate) => candidate.status === status)) {
        const type = typeof one.type === 'string' ? one.type : 'application/json';
        const schema = typeof one.type === 'string' ? { type: 'string' } : schemas.refTo(one.type);
        media.set(type, [...(media.get(type) ?? []), one.array ? { type: 'array', items: schema } : schema]);
      }
      const content = Object.fromEntries(
        [...media].map(([type, list]) => [type, { schema: list.length === 1 ? list[0] : { oneOf: list } }]),
      );
      return [String(status), { description: status === 202 ? 'Accepted; goes on as a task.' : 'Done.', content }];
    }),
  );
}

const sorted = <T>(record: Record<string, T>): Record<string, T> =>
  Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)));
