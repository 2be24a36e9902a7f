import type { ResourceRegistry } from '../resource-registry.js';
import { rootOf, schemaOf } from './openapi-v3.js';
import { schemaName } from './schema-names.js';

/** The Swagger 2.0 document at `/openapi/v2`, in JSON. */
export function openApiV2(registry: ResourceRegistry): object {
  const served = registry
    .all()
    .flatMap((definition) =>
      definition.versions.filter((version) => version.served).map((version) => ({ definition, version })),
    );
  return {
    swagger: '2.0',
    info: { title: 'Kubernetes', version: 'sandbox' },
    definitions: Object.fromEntries(
      served.map(({ definition, version }) => [schemaName(definition, version.name), schemaOf(definition, version)]),
    ) as object,
    paths: Object.fromEntries(
      served.map(({ definition, version }) => {
        const { group, plural, kind, namespaced } = definition;
        const path = `${rootOf(group, version.name)}${namespaced ? '/namespaces/{namespace}' : ''}/${plural}`;
        const operation = {
          'x-kubernetes-action': 'list',
          'x-kubernetes-group-version-kind': { group, version: version.name, kind },
          produces: ['application/json'],
          responses: {
            200: { description: 'OK', schema: { $ref: `#/definitions/${schemaName(definition, version.name)}` } },
          },
        };
        return [path, { get: operation }];
      }),
    ) as object,
  };
}
