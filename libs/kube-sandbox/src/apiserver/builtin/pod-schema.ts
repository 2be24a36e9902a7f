import {
  anything,
  boolean,
  described,
  int64,
  integer,
  intOrString,
  listBy,
  listOf,
  mapOf,
  object,
  oneOf,
  string,
  time,
  withDefault,
  type Fields,
} from '../schema/schema-builders.js';
import type { StructuralSchema } from '../schema/structural-schema.js';
import { conditions, nameReference, resources, tolerations } from './shared-schemas.js';

const keyReference = object({ name: string(), key: string(), optional: boolean() }, ['key']);

const handler: Fields = {
  exec: object({ command: listOf(string()) }),
  httpGet: object(
    {
      path: string(),
      port: intOrString(),
      host: string(),
      scheme: string(),
      httpHeaders: listOf(object({ name: string(), value: string() })),
    },
    ['port'],
  ),
  tcpSocket: object({ port: intOrString(), host: string() }, ['port']),
};

const probe = object({
  ...handler,
  grpc: object({ port: integer(), service: string() }, ['port']),
  initialDelaySeconds: integer(),
  timeoutSeconds: integer(),
  periodSeconds: integer(),
  successThreshold: integer(),
  failureThreshold: integer(),
  terminationGracePeriodSeconds: int64(),
});

const lifecycleHandler = object({ ...handler, sleep: object({ seconds: int64() }, ['seconds']) });

const seccompProfile = object({ type: string(), localhostProfile: string() });
const seLinuxOptions = object({ user: string(), role: string(), type: string(), level: string() });
const identity: Fields = {
  runAsUser: int64(),
  runAsGroup: int64(),
  runAsNonRoot: boolean(),
  seccompProfile,
  seLinuxOptions,
  windowsOptions: anything(),
  appArmorProfile: seccompProfile,
};

const securityContext = object({
  ...identity,
  privileged: boolean('Whether the container is privileged.'),
  allowPrivilegeEscalation: boolean(),
  readOnlyRootFilesystem: boolean(),
  procMount: string(),
  capabilities: object({ add: listOf(string()), drop: listOf(string()) }),
});

const podSecurityContext = object({
  ...identity,
  fsGroup: int64(),
  fsGroupChangePolicy: string(),
  supplementalGroups: listOf(int64()),
  supplementalGroupsPolicy: string(),
  sysctls: listOf(object({ name: string(), value: string() }, ['name', 'value'])),
});

const container = object(
  {
    name: string('The name of the container, unique within the pod.'),
    image: string('The container image.'),
    command: listOf(string(), 'The entrypoint; default: that of the image.'),
    args: listOf(string(), 'The arguments of the entrypoint.'),
    workingDir: string(),
    imagePullPolicy: oneOf(['Always', 'IfNotPresent', 'Never']),
    ports: listBy(
      ['containerPort', 'protocol'],
      object(
        {
          name: string(),
          containerPort: integer(),
          hostPort: integer(),
          hostIP: string(),
          protocol: withDefault('TCP', string()),
        },
        ['containerPort'],
      ),
    ),
    env: listBy(
      ['name'],
      object(
        {
          name: string(),
          value: string(),
          valueFrom: object({
            secretKeyRef: keyReference,
            configMapKeyRef: keyReference,
            fieldRef: object({ apiVersion: string(), fieldPath: string() }, ['fieldPath']),
            resourceFieldRef: object({ containerName: string(), resource: string(), divisor: intOrString() }, [
              'resource',
            ]),
          }),
        },
        ['name'],
      ),
    ),
    envFrom: listOf(
      object({
        prefix: string(),
        configMapRef: object({ name: string(), optional: boolean() }),
        secretRef: object({ name: string(), optional: boolean() }),
      }),
    ),
    resources: described('The compute resources of the container.', resources),
    resizePolicy: listOf(object({ resourceName: string(), restartPolicy: string() })),
    restartPolicy: string(),
    volumeMounts: listBy(
      ['mountPath'],
      object(
        {
          name: string(),
          mountPath: string(),
          subPath: string(),
          subPathExpr: string(),
          readOnly: boolean(),
          recursiveReadOnly: string(),
          mountPropagation: string(),
        },
        ['name', 'mountPath'],
      ),
    ),
    volumeDevices: listBy(['devicePath'], object({ name: string(), devicePath: string() }, ['name', 'devicePath'])),
    livenessProbe: probe,
    readinessProbe: probe,
    startupProbe: probe,
    lifecycle: object({ postStart: lifecycleHandler, preStop: lifecycleHandler, stopSignal: string() }),
    terminationMessagePath: withDefault('/dev/termination-log', string()),
    terminationMessagePolicy: withDefault('File', string()),
    securityContext,
    stdin: boolean(),
    stdinOnce: boolean(),
    tty: boolean(),
  },
  ['name'],
);

const items = listOf(object({ key: string(), path: string(), mode: integer() }, ['key', 'path']));

const volume = object(
  {
    name: string(),
    persistentVolumeClaim: object({ claimName: string(), readOnly: boolean() }, ['claimName']),
    emptyDir: object({ medium: string(), sizeLimit: intOrString() }),
    configMap: object({ name: string(), items, defaultMode: integer(), optional: boolean() }),
    secret: object({ secretName: string(), items, defaultMode: integer(), optional: boolean() }),
    hostPath: object({ path: string(), type: string() }, ['path']),
    downwardAPI: object({ items: listOf(anything()), defaultMode: integer() }),
    projected: object({ sources: listOf(anything()), defaultMode: integer() }),
    ephemeral: anything(),
    csi: anything(),
    nfs: object({ server: string(), path: string(), readOnly: boolean() }, ['server', 'path']),
    iscsi: anything(),
    image: object({ reference: string(), pullPolicy: string() }),
  },
  ['name'],
);

const podSpec = object(
  {
    containers: { ...listBy(['name'], container, 'The containers of the pod, at least one.') },
    initContainers: listBy(['name'], container),
    ephemeralContainers: listBy(['name'], object({ ...container.properties, targetContainerName: string() }, ['name'])),
    volumes: { ...listBy(['name'], volume, 'The volumes that containers can mount.'), nullable: true },
    restartPolicy: withDefault('Always', oneOf(['Always', 'OnFailure', 'Never'])),
    terminationGracePeriodSeconds: withDefault(30, int64('Seconds between SIGTERM and SIGKILL.')),
    activeDeadlineSeconds: int64(),
    dnsPolicy: withDefault('ClusterFirst', string()),
    dnsConfig: object({
      nameservers: listOf(string()),
      searches: listOf(string()),
      options: listOf(object({ name: string(), value: string() })),
    }),
    nodeSelector: mapOf(string(), 'Labels that the node must have.'),
    nodeName: string('The node of the pod, set by the scheduler.'),
    hostname: string(),
    subdomain: string(),
    setHostnameAsFQDN: boolean(),
    hostNetwork: boolean(),
    hostPID: boolean(),
    hostIPC: boolean(),
    hostUsers: boolean(),
    hostAliases: listBy(['ip'], object({ ip: string(), hostnames: listOf(string()) }, ['ip'])),
    shareProcessNamespace: boolean(),
    securityContext: withDefault({}, podSecurityContext),
    serviceAccountName: string(),
    serviceAccount: string(),
    automountServiceAccountToken: boolean(),
    enableServiceLinks: withDefault(true, boolean()),
    imagePullSecrets: listBy(['name'], nameReference),
    affinity: anything('The scheduling constraints.'),
    tolerations,
    topologySpreadConstraints: listOf(anything()),
    schedulerName: withDefault('default-scheduler', string()),
    schedulingGates: listBy(['name'], object({ name: string() }, ['name'])),
    priority: integer(),
    priorityClassName: string(),
    preemptionPolicy: string(),
    runtimeClassName: string(),
    overhead: mapOf(intOrString()),
    readinessGates: listOf(object({ conditionType: string() }, ['conditionType'])),
    os: object({ name: string() }, ['name']),
    resourceClaims: listBy(
      ['name'],
      object({ name: string(), resourceClaimName: string(), resourceClaimTemplateName: string() }, ['name']),
    ),
    resources,
  },
  ['containers'],
  'The desired behavior of the pod.',
);

const containerState = object({
  waiting: object({ reason: string(), message: string() }),
  running: object({ startedAt: time() }),
  terminated: object({
    exitCode: integer(),
    signal: integer(),
    reason: string(),
    message: string(),
    startedAt: time(),
    finishedAt: time(),
    containerID: string(),
  }),
});

const containerStatuses = listOf(
  object({
    name: string(),
    image: string(),
    imageID: string(),
    containerID: string(),
    ready: boolean(),
    started: boolean(),
    restartCount: integer(),
    state: containerState,
    lastState: containerState,
    allocatedResources: mapOf(intOrString()),
    resources,
    user: anything(),
    volumeMounts: listOf(anything()),
  }),
);

const addresses = (key: string): StructuralSchema => listBy([key], object({ [key]: string() }));

const podStatus = object(
  {
    phase: string('Pending, Running, Succeeded, Failed or Unknown.'),
    conditions,
    message: string(),
    reason: string(),
    nominatedNodeName: string(),
    observedGeneration: int64(),
    hostIP: string(),
    hostIPs: addresses('ip'),
    podIP: string('The IP address of the pod, once assigned.'),
    podIPs: addresses('ip'),
    startTime: time(),
    qosClass: string(),
    resize: string(),
    initContainerStatuses: containerStatuses,
    containerStatuses,
    ephemeralContainerStatuses: containerStatuses,
  },
  [],
  'The last observed status of the pod.',
);

export const podSchema: StructuralSchema = object(
  { spec: podSpec, status: podStatus },
  [],
  'A group of containers that run on one node.',
);

export const podTemplate: StructuralSchema = { ...object({ spec: podSpec }), 'x-kubernetes-embedded-resource': true };
