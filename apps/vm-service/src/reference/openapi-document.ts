import type { INestApplication, Type } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import {
  ApiExtraModels,
  ApiOperation,
  ApiProperty,
  ApiResponse,
  DocumentBuilder,
  SwaggerModule,
  type OpenAPIObject,
} from '@nestjs/swagger';
import * as contracts from '@headgate/api-contracts';
import { ChangeQuery, CreateSnapshotDto, EmptyBody, ErrorView, MigrateVmDto, PlanView } from '@headgate/api-contracts';
import { answer, descriptionOf, uploadBodyOf, type Answer } from '../platform/answers.decorator.js';
import { UPLOAD_TYPE } from '../platform/json-body.js';
import { describeHeaders } from './answer-headers.js';
import { withIdempotencyKey } from './idempotency-header.js';
import { withPatchBodies } from './patch-bodies.js';
import { referenceTo, schemaOf, type DtoClass, type JsonSchema } from './json-schema.js';
import type { ClassDescription } from './read-descriptions.js';

export type Operation = NonNullable<OpenAPIObject['paths'][string]['get']>;

const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'] as const;

/** Bodies of which every field has a default. */
const OPTIONAL_BODIES: readonly DtoClass[] = [MigrateVmDto, CreateSnapshotDto];

/** The responses that every route has besides its own. */
const FAILURES = { '4XX': 'The request is wrong or refused.', '5XX': 'A backend, or the service itself, failed.' };

/**
 * The API document of an application's controllers, as OpenAPI 3.1. @nestjs/swagger finds the routes and their
 * parameters; `@Describe` gives the answers, and class-validator's rules give the schemas.
 * @param app may be in preview mode: nothing is called
 * @param descriptions the docstrings of the DTO classes
 * @throws Error when a route has no `@Describe`
 */
export function openapiDocument(
  app: INestApplication,
  version: string,
  descriptions: ReadonlyMap<string, ClassDescription> = new Map(),
): OpenAPIObject {
  const schemas = new Map(dtoClasses().map((type) => [type.name, schemaOf(type, descriptions.get(type.name))]));
  for (const type of dtoClasses()) describeFields(type, schemas.get(type.name) ?? {});
  for (const controller of controllersOf(app)) describeRoutes(controller);
  const config = new DocumentBuilder()
    .setOpenAPIVersion('3.1.0')
    .setTitle('Headgate VM service')
    .setVersion(version)
    .setDescription('Virtual machines and containers on Kubernetes with KubeVirt and on libvirt.')
    .setLicense('Apache-2.0', 'https://www.apache.org/licenses/LICENSE-2.0')
    .build();
  const document = SwaggerModule.createDocument(app, config, {
    autoTagControllers: true,
    operationIdFactory: (controller, method) => `${controller.replace('Controller', '')}.${method}`,
  });
  for (const operation of operationsOf(document)) {
    correctBody(operation);
    addFailures(operation);
  }
  const used = Object.keys(document.components?.schemas ?? {}).filter((name) => name !== EmptyBody.name);
  return {
    ...document,
    paths: sorted(withPatchBodies(withIdempotencyKey(document.paths))),
    components: { schemas: sorted(Object.fromEntries(used.map((name) => [name, schemas.get(name) ?? {}])) as never) },
  };
}

const isClass = (value: unknown): value is DtoClass => typeof value === 'function' && /^class /.test(String(value));

/** The classes of the wire; the library also exports functions. */
const dtoClasses = (): DtoClass[] => Object.values(contracts).filter(isClass);

const controllersOf = (app: INestApplication): Type[] =>
  [...app.get(ModulesContainer).values()].flatMap((module) =>
    [...module.controllers.values()].flatMap(({ metatype }) => (metatype ? [metatype as Type] : [])),
  );

/** Gives @nestjs/swagger the fields that it turns into path and query parameters. */
function describeFields(type: DtoClass, { properties, required }: JsonSchema): void {
  for (const [name, schema] of Object.entries(properties as Record<string, JsonSchema>)) {
    const nested = contracts.nestedType(type, name);
    // A parameter's own examples have another form; those of the schema stay in the components.
    const { examples: _examples, ...plain } = schema;
    ApiProperty({
      ...(nested ? { type: () => nested, isArray: schema['type'] === 'array' } : plain),
      required: (required as string[]).includes(name),
    })(type.prototype as object, name);
  }
}

const OUTCOMES: Readonly<Record<number, string>> = {
  201: 'Created.',
  202: 'Accepted; continues as a task.',
  409: 'Refused, with the plan.',
};

function describeRoutes(controller: Type): void {
  const { prototype } = controller as { prototype: Record<string, unknown> };
  for (const name of Object.getOwnPropertyNames(prototype)) {
    const descriptor = Object.getOwnPropertyDescriptor(prototype, name) as TypedPropertyDescriptor<unknown>;
    const description = typeof descriptor.value === 'function' ? descriptionOf(descriptor.value) : undefined;
    if (!description) continue;
    const parameters = (Reflect.getMetadata('design:paramtypes', prototype, name) ?? []) as DtoClass[];
    const canRehearse = parameters.some((type) => type === ChangeQuery || type.prototype instanceof ChangeQuery);
    const hasOwnPlan = description.answers.some(({ isPlan }) => isPlan);
    const answers = [...description.answers, ...(canRehearse && !hasOwnPlan ? [answer(200, PlanView)] : [])];
    const types = answers.flatMap(({ type }) => (typeof type === 'string' ? [] : [type]));
    const upload = uploadBodyOf(descriptor.value as object);
    ApiExtraModels(ErrorView, ...types, ...(upload ? [upload] : []))(prototype, name, descriptor);
    const body = upload && { requestBody: uploadBody(upload) };
    ApiOperation({ summary: description.summary, ...body })(prototype, name, descriptor);
    for (const status of new Set(answers.map((one) => one.status))) {
      const ofStatus = answers.filter((one) => one.status === status);
      const response = {
        status,
        description: OUTCOMES[status] ?? 'Done.',
        ...describeHeaders(ofStatus.flatMap(({ headers }) => headers)),
        content: contentOf(ofStatus),
      };
      ApiResponse(response)(prototype, name, descriptor);
    }
  }
}

const uploadBody = (json: DtoClass) => ({
  required: true,
  content: {
    'application/json': { schema: referenceTo(json) },
    [UPLOAD_TYPE]: { schema: { type: 'string', format: 'binary' } as const },
  },
});

/** A status may come in two forms, such as an answer and the plan of a dry run. */
function contentOf(answers: readonly Answer[]): Record<string, { schema: JsonSchema }> {
  const media = new Map<string, JsonSchema[]>();
  for (const { type, array } of answers) {
    const name = typeof type === 'string' ? type : 'application/json';
    const schema = typeof type === 'string' ? schemaOfMedia(type) : referenceTo(type);
    media.set(name, [...(media.get(name) ?? []), array ? { type: 'array', items: schema } : schema]);
  }
  return Object.fromEntries(
    [...media].map(([name, [first = {}, ...rest]]) => [
      name,
      { schema: rest.length === 0 ? first : { anyOf: [first, ...rest] } },
    ]),
  );
}

/** JSON without a class is an object of a backend, and a body of any other type but text is the bytes of a file. */
function schemaOfMedia(type: string): JsonSchema {
  if (type === 'application/json') return { type: 'object', additionalProperties: true };
  return { type: 'string', ...(type.startsWith('text/') ? {} : { format: 'binary' }) };
}

/** @throws Error when an operation has no summary: its route lacks `@Describe` */
function operationsOf(document: OpenAPIObject): Operation[] {
  return Object.entries(document.paths).flatMap(([path, item]) =>
    METHODS.flatMap((method) => {
      const operation: Operation | undefined = item[method];
      if (operation && !operation.summary)
        throw new Error(`${method.toUpperCase()} ${path} has no description: add @Describe`);
      return operation ? [operation] : [];
    }),
  );
}

/** A route without fields in its body has no body, and one whose fields are all optional does not need one. */
function correctBody(operation: Operation): void {
  const { requestBody } = operation;
  if (!requestBody || '$ref' in requestBody) return;
  const { $ref } = (requestBody.content['application/json']?.schema ?? {}) as { $ref?: string };
  if ($ref === referenceTo(EmptyBody)['$ref']) delete operation.requestBody;
  if (OPTIONAL_BODIES.some((type) => referenceTo(type)['$ref'] === $ref)) requestBody.required = false;
}

function addFailures({ responses }: Operation): void {
  const content = { 'application/json': { schema: referenceTo(ErrorView) } };
  for (const [status, description] of Object.entries(FAILURES)) responses[status] = { description, content };
}

const sorted = <T>(record: Record<string, T>): Record<string, T> =>
  Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)));
