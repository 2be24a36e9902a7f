import { apiVersionOf } from '../kube-object.js';
import type { ResourceDefinition, ResourceVersion } from '../resource-definition.js';
import type { ResourceRegistry } from '../resource-registry.js';
import { patchTypesOf } from '../patch/patch-types.js';
import { rootSchema } from '../schema/object-meta-schema.js';
import { schemaName } from './schema-names.js';

const parameter = (name: string, type = 'string') => ({ name, in: 'query', schema: { type, uniqueItems: true } });
const WRITE_PARAMETERS = [parameter('dryRun'), parameter('fieldManager'), parameter('fieldValidation')];
const JSON_TYPE = 'application/json';

/** OpenAPI v3 documents, one per group and version, generated from the registered schemas. */
export class OpenApiV3 {
  constructor(
    private readonly registry: ResourceRegistry,
    /** Distinguishes the documents of successive servers at one address, because clients cache them by URL. */
    private readonly serverId: string,
  ) {}

  /** The index at `/openapi/v3`. */
  index(): object {
    const paths = this.registry.groupVersions().map(({ group, version }) => {
      const root = rootOf(group, version).slice(1);
      return [root, { serverRelativeURL: `/openapi/v3/${root}?hash=${this.serverId}-${this.registry.revision}` }];
    });
    return { paths: Object.fromEntries(paths) as object };
  }

  /** @param root such as `api/v1`, `apis/apps/v1` @returns undefined when the group and version is not served */
  document(root: string): object | undefined {
    const found = this.registry.groupVersions().find(({ group, version }) => rootOf(group, version) === `/${root}`);
    if (!found) return undefined;
    const { group, version, resources } = found;
    const served = resources.map((definition) => ({
      definition,
      version: definition.versions.find(({ name }) => name === version)!,
    }));
    return {
      openapi: '3.0.0',
      info: { title: 'Kubernetes', version: 'sandbox' },
      paths: Object.fromEntries(served.flatMap(({ definition }) => pathsOf(definition, group, version))) as object,
      components: {
        schemas: Object.fromEntries(
          served.map(({ definition, version: each }) => [schemaName(definition, version), schemaOf(definition, each)]),
        ) as object,
      },
    };
  }
}

export function rootOf(group: string, version: string): string {
  return `${group ? '/apis' : '/api'}/${apiVersionOf(group, version)}`;
}

/** The complete schema of a kind with its group, version and kind. */
export function schemaOf({ group, kind }: ResourceDefinition, { name, schema }: ResourceVersion): object {
  return { ...rootSchema(schema), 'x-kubernetes-group-version-kind': [{ group, version: name, kind }] };
}

function pathsOf(definition: ResourceDefinition, group: string, version: string): [string, object][] {
  const root = rootOf(group, version);
  const { plural, kind, namespaced } = definition;
  const gvk = { group, version, kind };
  const content = { [JSON_TYPE]: { schema: { $ref: `#/components/schemas/${schemaName(definition, version)}` } } };
  const operation = (action: string, fields: object) => ({
    'x-kubernetes-action': action,
    'x-kubernetes-group-version-kind': gvk,
    responses: { 200: { description: 'OK', content } },
    ...fields,
  });
  const write = { parameters: WRITE_PARAMETERS, requestBody: { required: true, content } };
  const patchContent = Object.fromEntries(
    patchTypesOf({ definition }).map((type) => [type, { schema: { type: 'object' } }]),
  );
  const collection = `${root}${namespaced ? '/namespaces/{namespace}' : ''}/${plural}`;
  return [
    ...(namespaced ? [[`${root}/${plural}`, { get: operation('list', {}) }] as [string, object]] : []),
    [collection, { get: operation('list', {}), post: operation('post', write) }],
    [
      `${collection}/{name}`,
      {
        get: operation('get', {}),
        put: operation('put', write),
        patch: operation('patch', {
          parameters: [...WRITE_PARAMETERS, parameter('force', 'boolean')],
          requestBody: { required: true, content: patchContent },
        }),
        delete: operation('delete', { parameters: [parameter('dryRun')] }),
      },
    ],
  ];
}
