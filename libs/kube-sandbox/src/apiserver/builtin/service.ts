import { fieldRequired } from '../api-error.js';
import type { KubeObject } from '../kube-object.js';
import type { ResourceDefinition } from '../resource-definition.js';
import {
  anything,
  boolean,
  integer,
  intOrString,
  listBy,
  listOf,
  mapOf,
  object,
  oneOf,
  string,
  withDefault,
} from '../schema/schema-builders.js';
import { builtIn } from './built-in.js';
import { ageColumn, column, NONE } from './column.js';
import { conditions } from './shared-schemas.js';

interface Service extends KubeObject {
  spec: {
    type?: string;
    clusterIP?: string;
    clusterIPs?: string[];
    externalIPs?: string[];
    selector?: Record<string, string>;
    ports?: { port: number; nodePort?: number; protocol?: string; targetPort?: string | number }[];
  };
  status?: { loadBalancer?: { ingress?: { ip?: string; hostname?: string }[] } };
}

let lastServiceIp = 0;

function prepareService(draft: KubeObject): void {
  const { spec } = draft as Service;
  for (const port of spec.ports ?? []) port.targetPort ??= port.port;
  if (spec.type === 'ExternalName') return;
  lastServiceIp = (lastServiceIp % 65_000) + 1;
  spec.clusterIP ??= `10.96.${lastServiceIp >> 8}.${lastServiceIp & 255}`;
  spec.clusterIPs ??= [spec.clusterIP];
  (draft as Service).status = { loadBalancer: {} };
}

export const services: ResourceDefinition = builtIn({
  kind: 'Service',
  shortNames: ['svc'],
  categories: ['all'],
  nameRule: 'label',
  statusSubresource: true,
  schema: object(
    {
      spec: object({
        type: withDefault('ClusterIP', oneOf(['ClusterIP', 'NodePort', 'LoadBalancer', 'ExternalName'])),
        selector: mapOf(string()),
        ports: {
          ...listBy(
            ['port', 'protocol'],
            object(
              {
                name: string(),
                port: integer(),
                targetPort: intOrString(),
                nodePort: integer(),
                protocol: withDefault('TCP', string()),
                appProtocol: string(),
              },
              ['port'],
            ),
          ),
        },
        clusterIP: string(),
        clusterIPs: listOf(string()),
        externalIPs: listOf(string()),
        externalName: string(),
        externalTrafficPolicy: string(),
        internalTrafficPolicy: withDefault('Cluster', string()),
        ipFamilies: listOf(string()),
        ipFamilyPolicy: string(),
        loadBalancerIP: string(),
        loadBalancerClass: string(),
        loadBalancerSourceRanges: listOf(string()),
        allocateLoadBalancerNodePorts: boolean(),
        healthCheckNodePort: integer(),
        publishNotReadyAddresses: boolean(),
        sessionAffinity: withDefault('None', string()),
        sessionAffinityConfig: anything(),
        trafficDistribution: string(),
      }),
      status: object({ loadBalancer: anything(), conditions }),
    },
    [],
    'A stable address for a set of pods.',
  ),
  strategy: {
    prepareForCreate: prepareService,
    validate: (object) => {
      const { type, ports = [], clusterIP } = (object as Service).spec;
      return ports.length === 0 && type !== 'ExternalName' && clusterIP !== 'None' ? [fieldRequired('spec.ports')] : [];
    },
  },
  columns: [
    column<Service>('Type', ({ spec }) => spec.type ?? 'ClusterIP'),
    column<Service>('Cluster-IP', ({ spec }) => spec.clusterIP ?? NONE),
    column<Service>(
      'External-IP',
      ({ spec, status }) =>
        status?.loadBalancer?.ingress?.map(({ ip, hostname }) => ip ?? hostname).join(',') ||
        spec.externalIPs?.join(',') ||
        NONE,
    ),
    column<Service>(
      'Port(s)',
      ({ spec }) =>
        spec.ports
          ?.map(({ port, nodePort, protocol = 'TCP' }) => `${port}${nodePort ? `:${nodePort}` : ''}/${protocol}`)
          .join(',') || NONE,
    ),
    ageColumn,
    column<Service>(
      'Selector',
      ({ spec }) =>
        Object.entries(spec.selector ?? {})
          .map(([key, value]) => `${key}=${value}`)
          .join(',') || NONE,
      1,
    ),
  ],
});

export const endpoints: ResourceDefinition = builtIn({
  kind: 'Endpoints',
  plural: 'endpoints',
  shortNames: ['ep'],
  schema: object({ subsets: listOf(anything()) }, [], 'The addresses of the pods of a service.'),
});
