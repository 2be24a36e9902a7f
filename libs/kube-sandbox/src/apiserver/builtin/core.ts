import { fieldForbidden, fieldInvalid, fieldRequired, type StatusCause } from '../api-error.js';
import { deepEqual } from '../deep-copy.js';
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
  setOf,
  string,
  time,
  withDefault,
} from '../schema/schema-builders.js';
import { builtIn } from './built-in.js';
import { ageColumn, column, NONE } from './column.js';
import { conditions, nameReference, objectReference, quantities } from './shared-schemas.js';

interface Namespace extends KubeObject {
  spec?: { finalizers?: string[] };
  status?: { phase?: string };
}

export const namespaces: ResourceDefinition = builtIn({
  kind: 'Namespace',
  shortNames: ['ns'],
  namespaced: false,
  nameRule: 'label',
  statusSubresource: true,
  schema: object(
    { spec: object({ finalizers: listOf(string()) }), status: object({ phase: string(), conditions }) },
    [],
    'A space within which names are unique.',
  ),
  subresources: [{ name: 'finalize', verbs: ['update'] }],
  strategy: {
    prepareForCreate: (draft) => {
      const namespace = draft as Namespace;
      namespace.spec = { finalizers: ['kubernetes'] };
      namespace.status = { phase: 'Active' };
      namespace.metadata.labels = {
        ...namespace.metadata.labels,
        'kubernetes.io/metadata.name': namespace.metadata.name,
      };
    },
    holdsDeletion: (object) => ((object as Namespace).spec?.finalizers ?? []).length > 0,
  },
  selectableFields: { 'status.phase': (object) => (object as Namespace).status?.phase ?? '' },
  columns: [column<Namespace>('Status', ({ status }) => status?.phase ?? 'Active'), ageColumn],
});

interface Data extends KubeObject {
  data?: Record<string, string>;
  binaryData?: Record<string, string>;
  stringData?: Record<string, string>;
  type?: string;
  immutable?: boolean;
}

const keyCount = ({ data = {}, binaryData = {} }: Data): number =>
  Object.keys(data).length + Object.keys(binaryData).length;

function validateImmutable(object: KubeObject, previous: KubeObject | undefined): StatusCause[] {
  const [after, before] = [object as Data, previous as Data | undefined];
  const changed = before?.immutable && !deepEqual([after.data, after.binaryData], [before.data, before.binaryData]);
  return changed ? [fieldForbidden('data', 'field is immutable when `immutable` is set')] : [];
}

export const configMaps: ResourceDefinition = builtIn({
  kind: 'ConfigMap',
  shortNames: ['cm'],
  schema: object(
    { data: mapOf(string()), binaryData: mapOf(string()), immutable: boolean() },
    [],
    'Keys and values that programs read.',
  ),
  strategy: { validate: validateImmutable },
  columns: [column<Data>('Data', keyCount), ageColumn],
});

const MAX_SECRET_BYTES = 1024 * 1024;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

function encodeStringData(draft: KubeObject): void {
  const secret = draft as Data;
  if (secret.stringData) {
    const encoded = Object.entries(secret.stringData).map(([key, value]) => [
      key,
      Buffer.from(value).toString('base64'),
    ]);
    secret.data = { ...secret.data, ...(Object.fromEntries(encoded) as Record<string, string>) };
    delete secret.stringData;
  }
  secret.type ??= 'Opaque';
}

function validateSecret(object: KubeObject, previous: KubeObject | undefined): StatusCause[] {
  const { data = {}, type } = object as Data;
  const size = Object.values(data).reduce((sum, value) => sum + Buffer.byteLength(value, 'base64'), 0);
  const causes = Object.entries(data)
    .filter(([, value]) => !BASE64.test(value))
    .map(([key]) => fieldInvalid(`data[${key}]`, '<secret contents redacted>', 'illegal base64 data'));
  if (size > MAX_SECRET_BYTES)
    causes.push({
      reason: 'FieldValueTooLong',
      message: `Too long: may not be more than ${MAX_SECRET_BYTES} bytes`,
      field: 'data',
    });
  if (previous && (previous as Data).type !== type) causes.push(fieldInvalid('type', type, 'field is immutable'));
  return [...causes, ...validateImmutable(object, previous)];
}

export const secrets: ResourceDefinition = builtIn({
  kind: 'Secret',
  schema: object(
    { data: mapOf(string()), stringData: mapOf(string()), type: string(), immutable: boolean() },
    [],
    'Keys and values to be kept secret, in base64.',
  ),
  strategy: { prepareForCreate: encodeStringData, prepareForUpdate: encodeStringData, validate: validateSecret },
  selectableFields: { type: (object) => (object as Data).type ?? '' },
  columns: [column<Data>('Type', ({ type }) => type ?? 'Opaque'), column<Data>('Data', keyCount), ageColumn],
});

export const serviceAccounts: ResourceDefinition = builtIn({
  kind: 'ServiceAccount',
  shortNames: ['sa'],
  schema: object(
    {
      secrets: listBy(['name'], objectReference),
      imagePullSecrets: listBy(['name'], nameReference),
      automountServiceAccountToken: boolean(),
    },
    [],
    'An identity for programs that run in the cluster.',
  ),
  subresources: [
    { name: 'token', kind: 'TokenRequest', group: 'authentication.k8s.io', version: 'v1', verbs: ['create'] },
  ],
  columns: [
    column('Secrets', (object) => ((object as KubeObject & { secrets?: unknown[] }).secrets ?? []).length),
    ageColumn,
  ],
});

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
    'A stable address in front of pods.',
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

interface Node extends KubeObject {
  spec?: { unschedulable?: boolean };
  status?: {
    conditions?: { type: string; status: string }[];
    addresses?: { type: string; address: string }[];
    nodeInfo?: { kubeletVersion?: string; osImage?: string; kernelVersion?: string; containerRuntimeVersion?: string };
  };
}

const ROLE_LABEL = 'node-role.kubernetes.io/';

function nodeStatus({ spec, status }: Node): string {
  const ready = status?.conditions?.find(({ type }) => type === 'Ready');
  const text = ready ? (ready.status === 'True' ? 'Ready' : 'NotReady') : 'Unknown';
  return spec?.unschedulable ? `${text},SchedulingDisabled` : text;
}

const addressOf = ({ status }: Node, wanted: string): string =>
  status?.addresses?.find(({ type }) => type === wanted)?.address ?? NONE;

export const nodes: ResourceDefinition = builtIn({
  kind: 'Node',
  shortNames: ['no'],
  namespaced: false,
  statusSubresource: true,
  schema: object(
    {
      spec: object({
        podCIDR: string(),
        podCIDRs: setOf(string()),
        providerID: string(),
        unschedulable: boolean('Whether new pods stay away.'),
        taints: listOf(
          object({ key: string(), value: string(), effect: string(), timeAdded: time() }, ['key', 'effect']),
        ),
        configSource: anything(),
      }),
      status: object({
        capacity: quantities,
        allocatable: quantities,
        conditions,
        addresses: listBy(['type'], object({ type: string(), address: string() }, ['type', 'address'])),
        phase: string(),
        daemonEndpoints: anything(),
        features: anything(),
        runtimeHandlers: listOf(anything()),
        nodeInfo: mapOf(string()),
        images: listOf(anything()),
        volumesInUse: listOf(string()),
        volumesAttached: listOf(anything()),
      }),
    },
    [],
    'A machine of the cluster.',
  ),
  selectableFields: { 'spec.unschedulable': (object) => String((object as Node).spec?.unschedulable ?? false) },
  columns: [
    column<Node>('Status', nodeStatus),
    column<Node>(
      'Roles',
      ({ metadata }) =>
        Object.keys(metadata.labels ?? {})
          .filter((key) => key.startsWith(ROLE_LABEL))
          .map((key) => key.slice(ROLE_LABEL.length))
          .sort()
          .join(',') || NONE,
    ),
    ageColumn,
    column<Node>('Version', ({ status }) => status?.nodeInfo?.kubeletVersion ?? ''),
    column<Node>('Internal-IP', (node) => addressOf(node, 'InternalIP'), 1),
    column<Node>('External-IP', (node) => addressOf(node, 'ExternalIP'), 1),
    column<Node>('OS-Image', ({ status }) => status?.nodeInfo?.osImage ?? '<unknown>', 1),
    column<Node>('Kernel-Version', ({ status }) => status?.nodeInfo?.kernelVersion ?? '<unknown>', 1),
    column<Node>('Container-Runtime', ({ status }) => status?.nodeInfo?.containerRuntimeVersion ?? '<unknown>', 1),
  ],
});

export const endpoints: ResourceDefinition = builtIn({
  kind: 'Endpoints',
  plural: 'endpoints',
  shortNames: ['ep'],
  schema: object({ subsets: listOf(anything()) }, [], 'Addresses behind a service.'),
});

/** Kinds that clients look up along the way; the sandbox enforces none of them. */
export const quotas: ResourceDefinition[] = [
  builtIn({
    kind: 'ResourceQuota',
    shortNames: ['quota'],
    statusSubresource: true,
    schema: object({ spec: anything(), status: anything() }, [], 'Bounds of what a namespace may use.'),
  }),
  builtIn({
    kind: 'LimitRange',
    shortNames: ['limits'],
    schema: object({ spec: anything() }, [], 'Bounds of single objects in a namespace.'),
  }),
];
