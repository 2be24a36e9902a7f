import { apiService, deepFreeze, type KubeObject, type ResourceDefinition } from '@headgate/kube-sandbox';

/** The services of the API servers that a real cluster aggregates. */
const AGGREGATED: Readonly<Record<string, { namespace: string; name: string }>> = {
  'subresources.kubevirt.io': { namespace: 'kubevirt', name: 'virt-api' },
  'upload.cdi.kubevirt.io': { namespace: 'cdi', name: 'cdi-api' },
  'metrics.k8s.io': { namespace: 'kube-system', name: 'metrics-server' },
};

const isAggregated = ({ group }: { group: string }): boolean => group in AGGREGATED;

/** The CustomResourceDefinitions and APIServices that describe the simulated resources to clients. */
export function describedDefinitions(definitions: readonly ResourceDefinition[], now: string): KubeObject[] {
  const groupVersions = new Map(
    [
      ...definitions.flatMap(({ group, versions }) => versions.map(({ name }) => ({ group, version: name }))),
      ...(definitions.some(({ group }) => group === 'kubevirt.io')
        ? ['v1', 'v1alpha3'].map((version) => ({ group: 'subresources.kubevirt.io', version }))
        : []),
    ].map((each) => [`${each.version}.${each.group}`, each]),
  );
  return [
    ...definitions.filter((definition) => !isAggregated(definition)).map(customResourceDefinition),
    ...[...groupVersions.values()].map((each) => {
      const service = AGGREGATED[each.group];
      return apiService({ ...each, ...(service ? { service } : {}) }, now);
    }),
  ];
}

function customResourceDefinition(definition: ResourceDefinition): KubeObject {
  const { group, plural, singular, kind, listKind, shortNames, categories, namespaced, versions } = definition;
  const spec = {
    group,
    names: {
      plural,
      singular,
      kind,
      listKind: listKind ?? `${kind}List`,
      ...(shortNames ? { shortNames } : {}),
      ...(categories ? { categories } : {}),
    },
    scope: namespaced ? 'Namespaced' : 'Cluster',
    conversion: { strategy: 'None' },
    versions: versions.map(({ name, served, schema, columns, deprecationWarning }) => ({
      name,
      served,
      storage: name === (definition.storageVersion ?? versions[0]!.name),
      ...(deprecationWarning ? { deprecated: true, deprecationWarning } : {}),
      // The schema itself, frozen, so that a cluster does not hold it twice.
      ...(schema ? { schema: { openAPIV3Schema: deepFreeze(schema) } } : {}),
      ...(columns ? { additionalPrinterColumns: columns } : {}),
      ...(definition.statusSubresource ? { subresources: { status: {} } } : {}),
    })),
  };
  return Object.assign(
    {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: `${plural}.${group}` },
    },
    { spec },
  );
}
