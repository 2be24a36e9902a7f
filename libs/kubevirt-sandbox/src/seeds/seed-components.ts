import type { KubeObject } from '@headgate/kube-sandbox';
import { setRunning } from '../controllers/pods/pod-status.js';
import type { Node, Pod } from '../types/core-kinds.js';
import { controlledBy, type SimulationContext } from '../simulation-context.js';
import { seededSuffix, seededUid } from './seeded-values.js';

interface Component {
  readonly namespace: string;
  readonly name: string;
  readonly labels: Record<string, string>;
  readonly image: string;
  readonly replicas: number;
}

const image = (name: string, tag: string): string => `registry.example.org/kubevirt/${name}:${tag}`;

function components({ release, without }: SimulationContext): Component[] {
  const kubevirt = ['virt-operator', 'virt-api', 'virt-controller'].map((name) => ({
    namespace: 'kubevirt',
    name,
    labels: { 'kubevirt.io': name, 'app.kubernetes.io/component': 'kubevirt' },
    image: image(name, release.tag),
    replicas: 2,
  }));
  const cdi = [
    ['cdi-operator', 'cdi-operator'],
    ['cdi-apiserver', 'cdi-apiserver'],
    ['cdi-deployment', 'cdi-controller'],
    ['cdi-uploadproxy', 'cdi-uploadproxy'],
  ].map(([name, binary]) => ({
    namespace: 'cdi',
    name: name!,
    labels: { 'cdi.kubevirt.io': name!, app: 'containerized-data-importer' },
    image: image(binary!, release.cdiTag),
    replicas: 1,
  }));
  return [...(without.has('kubevirt') ? [] : kubevirt), ...(without.has('cdi') ? [] : cdi)];
}

/** The deployments of KubeVirt and CDI with their running pods. Nothing restarts the pods when they are deleted. */
export function seedComponents(context: SimulationContext, nodes: readonly Node[], now: string): KubeObject[] {
  if (nodes.length === 0) return [];
  const all = components(context);
  const placed = all.flatMap((component) => Array.from({ length: component.replicas }, () => component));
  const pods = placed.map((component, index) => {
    const suffix = seededSuffix(`${component.name}/${index}`);
    const name = `${component.name}-${seededSuffix(component.name)}-${suffix}`;
    return componentPod(
      context,
      { component, name, owner: replicaSet(component, now) },
      nodes[index % nodes.length]!,
      now,
    );
  });
  return [...all.flatMap((component) => [deployment(component, now), replicaSet(component, now)]), ...pods];
}

/** The DaemonSet of virt-handler; its pods are those of {@link withHandlers}. */
export function handlerDaemonSet({ release }: SimulationContext, nodes: number, now: string): KubeObject {
  const component = handler(release.tag);
  const status = {
    desiredNumberScheduled: nodes,
    currentNumberScheduled: nodes,
    numberReady: nodes,
    numberAvailable: nodes,
    updatedNumberScheduled: nodes,
    numberMisscheduled: 0,
  };
  return workload(component, 'DaemonSet', now, { spec: template(component), status });
}

const handler = (tag: string): Component => ({
  namespace: 'kubevirt',
  name: 'virt-handler',
  labels: { 'kubevirt.io': 'virt-handler', 'app.kubernetes.io/component': 'kubevirt' },
  image: image('virt-handler', tag),
  replicas: 0,
});

/** The pod of virt-handler on a node. */
function handlerPod(context: SimulationContext, node: Node, now: string): Pod {
  const component = handler(context.release.tag);
  const name = `virt-handler-${seededSuffix(`virt-handler/${node.metadata.name}`)}`;
  return componentPod(context, { component, name, owner: workload(component, 'DaemonSet', now, {}) }, node, now);
}

/** Nodes, and the pods of virt-handler on those that run VMs. */
export function withHandlers(context: SimulationContext, nodes: readonly Node[], now: string): KubeObject[] {
  const hosts = context.without.has('kubevirt')
    ? []
    : nodes.filter(({ metadata }) => metadata.labels?.['kubevirt.io/schedulable'] === 'true');
  return [...nodes, ...hosts.map((node) => handlerPod(context, node, now))];
}

function workload({ namespace, name, labels }: Component, kind: string, now: string, content: object): KubeObject {
  const metadata = { name, namespace, labels, uid: seededUid(`${kind}/${namespace}/${name}`), creationTimestamp: now };
  return { apiVersion: 'apps/v1', kind, metadata, ...content };
}

const template = ({ name, labels, image: reference }: Component) => ({
  selector: { matchLabels: labels },
  template: { metadata: { labels }, spec: { containers: [{ name, image: reference }] } },
});

function deployment(component: Component, now: string): KubeObject {
  const { replicas } = component;
  const status = {
    replicas,
    readyReplicas: replicas,
    availableReplicas: replicas,
    updatedReplicas: replicas,
    conditions: [{ type: 'Available', status: 'True', reason: 'MinimumReplicasAvailable', lastTransitionTime: now }],
  };
  return workload(component, 'Deployment', now, { spec: { replicas, ...template(component) }, status });
}

function replicaSet(component: Component, now: string): KubeObject {
  const { replicas } = component;
  const name = `${component.name}-${seededSuffix(component.name)}`;
  const status = { replicas, readyReplicas: replicas, availableReplicas: replicas };
  const set = workload({ ...component, name }, 'ReplicaSet', now, {
    spec: { replicas, ...template(component) },
    status,
  });
  set.metadata.ownerReferences = [controlledBy(deployment(component, now))];
  return set;
}

function componentPod(
  context: SimulationContext,
  { component, name, owner }: { component: Component; name: string; owner: KubeObject },
  node: Node,
  now: string,
): Pod {
  const { namespace, labels } = component;
  const pod: Pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace,
      labels,
      uid: seededUid(`Pod/${namespace}/${name}`),
      creationTimestamp: now,
      ownerReferences: [controlledBy(owner)],
    },
    spec: {
      nodeName: node.metadata.name,
      containers: [
        { name: component.name, image: component.image, resources: { requests: { cpu: '10m', memory: '150Mi' } } },
      ],
    },
    status: { startTime: now, qosClass: 'Burstable', conditions: [] },
  };
  const host = node.status?.addresses?.find(({ type }) => type === 'InternalIP')?.address ?? '192.0.2.1';
  setRunning(pod, context.nextAddress(), host, now);
  return pod;
}

/** The configurations of the webhooks, whose rules the simulation applies itself. */
export function webhookConfigurations({ without }: SimulationContext): KubeObject[] {
  const configuration = (kind: string, name: string, service: { namespace: string; name: string }, hooks: string[]) =>
    Object.assign(
      { apiVersion: 'admissionregistration.k8s.io/v1', kind, metadata: { name } },
      {
        webhooks: hooks.map((hook) => ({
          name: hook,
          clientConfig: { service: { ...service, port: 443, path: '/' } },
          admissionReviewVersions: ['v1', 'v1beta1'],
          failurePolicy: 'Fail',
          sideEffects: 'None',
          timeoutSeconds: 10,
        })),
      },
    );
  const virtApi = { namespace: 'kubevirt', name: 'virt-api' };
  const cdiApi = { namespace: 'cdi', name: 'cdi-api' };
  return [
    ...(without.has('kubevirt')
      ? []
      : [
          configuration('MutatingWebhookConfiguration', 'virt-api-mutator', virtApi, [
            'virtualmachines-mutator.kubevirt.io',
            'virtualmachineinstances-mutator.kubevirt.io',
            'migrations-mutator.kubevirt.io',
            'virtualmachineclones-mutator.kubevirt.io',
          ]),
          configuration('ValidatingWebhookConfiguration', 'virt-api-validator', virtApi, [
            'virtualmachine-validator.kubevirt.io',
            'virtualmachineinstances-create-validator.kubevirt.io',
            'virtualmachineinstances-update-validator.kubevirt.io',
            'migration-create-validator.kubevirt.io',
            'migration-update-validator.kubevirt.io',
            'virtualmachinesnapshot-validator.snapshot.kubevirt.io',
            'virtualmachinerestore-validator.snapshot.kubevirt.io',
            'virtualmachineexport-validator.export.kubevirt.io',
            'vm-clone-validator.kubevirt.io',
            'virt-launcher-eviction-interceptor.kubevirt.io',
          ]),
        ]),
    ...(without.has('cdi')
      ? []
      : [
          configuration('ValidatingWebhookConfiguration', 'cdi-api-datavolume-validate', cdiApi, [
            'datavolume-validate.cdi.kubevirt.io',
          ]),
          configuration('MutatingWebhookConfiguration', 'cdi-api-datavolume-mutate', cdiApi, [
            'datavolume-mutate.cdi.kubevirt.io',
          ]),
        ]),
  ];
}
