import type { AdmissionChain } from './admission.js';
import { forbidden, type ApiError } from './api-error.js';
import type { KubeObject } from './kube-object.js';
import type { ObjectStore } from './object-store.js';

type Level = 'privileged' | 'baseline' | 'restricted';

interface SecurityContext {
  privileged?: boolean;
  allowPrivilegeEscalation?: boolean;
  runAsNonRoot?: boolean;
  capabilities?: { add?: string[]; drop?: string[] };
  seccompProfile?: { type?: string };
  seLinuxOptions?: { type?: string };
}

interface Container {
  name: string;
  securityContext?: SecurityContext;
}

interface Pod extends KubeObject {
  spec: {
    containers: Container[];
    initContainers?: Container[];
    securityContext?: SecurityContext;
    hostNetwork?: boolean;
    hostPID?: boolean;
    hostIPC?: boolean;
    volumes?: { name: string; hostPath?: unknown }[];
  };
}

/** A rule of the Pod Security Standards: the violation, in the words of the API server, or undefined. */
type Check = (pod: Pod) => string | undefined;

// Source of the rules and their texts: https://kubernetes.io/docs/concepts/security/pod-security-standards/ and
// k8s.io/pod-security-admission.

const ENFORCE = 'pod-security.kubernetes.io/enforce';
const SELINUX_TYPES = [undefined, '', 'container_t', 'container_init_t', 'container_kvm_t', 'container_engine_t'];

const containersOf = ({ spec }: Pod): Container[] => [...(spec.initContainers ?? []), ...spec.containers];

const named = (containers: readonly Container[]): string =>
  `container${containers.length > 1 ? 's' : ''} ${containers.map(({ name }) => `"${name}"`).join(', ')}`;

const eachContainer =
  (title: string, must: string, violates: (context: SecurityContext, pod: Pod) => boolean, subject = ''): Check =>
  (pod) => {
    const found = containersOf(pod).filter(({ securityContext = {} }) => violates(securityContext, pod));
    return found.length === 0 ? undefined : `${title} (${subject}${named(found)} must ${must})`;
  };

const BASELINE: readonly Check[] = [
  ({ spec }) => {
    const set = (['hostNetwork', 'hostPID', 'hostIPC'] as const).filter((field) => spec[field]);
    return set.length === 0 ? undefined : `host namespaces (${set.map((field) => `${field}=true`).join(', ')})`;
  },
  ({ spec }) => {
    const mounted = (spec.volumes ?? []).filter(({ hostPath }) => hostPath !== undefined);
    if (mounted.length === 0) return undefined;
    const names = mounted.map(({ name }) => `"${name}"`).join(', ');
    return `hostPath volumes (volume${mounted.length > 1 ? 's' : ''} ${names})`;
  },
  eachContainer('privileged', 'not set securityContext.privileged=true', ({ privileged }) => privileged === true),
  (pod) => {
    const found = containersOf(pod).filter(
      ({ securityContext }) => !SELINUX_TYPES.includes(securityContext?.seLinuxOptions?.type),
    );
    const types = found.map(({ securityContext }) => `"${securityContext?.seLinuxOptions?.type}"`);
    if (found.length === 0) return undefined;
    return `seLinuxOptions (${named(found)} set forbidden securityContext.seLinuxOptions: type ${types.join(', ')})`;
  },
];

const RESTRICTED: readonly Check[] = [
  eachContainer(
    'allowPrivilegeEscalation != false',
    'set securityContext.allowPrivilegeEscalation=false',
    ({ allowPrivilegeEscalation }) => allowPrivilegeEscalation !== false,
  ),
  eachContainer(
    'unrestricted capabilities',
    'set securityContext.capabilities.drop=["ALL"]',
    ({ capabilities }) => capabilities?.drop?.includes('ALL') !== true,
  ),
  eachContainer(
    'runAsNonRoot != true',
    'set securityContext.runAsNonRoot=true',
    ({ runAsNonRoot }, { spec }) => (runAsNonRoot ?? spec.securityContext?.runAsNonRoot) !== true,
    'pod or ',
  ),
  eachContainer(
    'seccompProfile',
    'set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost"',
    ({ seccompProfile }, { spec }) =>
      !['RuntimeDefault', 'Localhost'].includes((seccompProfile ?? spec.securityContext?.seccompProfile)?.type ?? ''),
    'pod or ',
  ),
];

const CHECKS: Readonly<Record<Level, readonly Check[]>> = {
  privileged: [],
  baseline: BASELINE,
  restricted: [...BASELINE, ...RESTRICTED],
};

/**
 * The refusal of a new pod by the Pod Security level that its namespace enforces with a label; undefined if there is
 * none.
 */
export function podSecurityRefusal(store: ObjectStore, object: KubeObject): ApiError | undefined {
  const pod = object as Pod;
  const { namespace = '', name } = pod.metadata;
  const level = store.get('namespaces', { name: namespace })?.metadata.labels?.[ENFORCE] as Level | undefined;
  if (level === undefined) return undefined;
  const violations = (CHECKS[level] ?? RESTRICTED).flatMap((check) => check(pod) ?? []);
  if (violations.length === 0) return undefined;
  const text = `violates PodSecurity "${level}:latest": ${violations.join(', ')}`;
  return forbidden({ group: '', resource: 'pods', name }, text);
}

/**
 * Enforces the Pod Security Standards for pods that clients create. Controllers inside the process call
 * `podSecurityRefusal`.
 */
export function enforcePodSecurity(admission: AdmissionChain, store: ObjectStore): void {
  admission.addValidating({
    name: 'PodSecurity',
    resources: ['pods'],
    operations: ['CREATE'],
    admit: ({ object }) => {
      const refusal = podSecurityRefusal(store, object);
      if (refusal) throw refusal;
    },
  });
}
