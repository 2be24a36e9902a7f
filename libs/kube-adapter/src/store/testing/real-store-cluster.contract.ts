import { SystemClock } from '@headgate/domain-contracts';
import type { RealApiServer } from '@headgate/testing';
import { KubeSharedStore, type KubeSharedStoreOptions } from '../kube-shared-store.js';
import type { StoreCluster } from './store-contracts.contract.js';
import { readManifest } from './store-harness.contract.js';

const ACCOUNT = 'headgate-vm-service';
const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const RBAC = '/apis/rbac.authorization.k8s.io/v1/namespaces';
const ESTABLISH_TIMEOUT_MS = 30_000;
const POLL_INTERVAL_MS = 50;

interface Definition {
  readonly metadata: { readonly name: string };
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
}

/** Installs the definitions of the store, and waits until they are served. */
export async function installDefinitions(server: RealApiServer): Promise<void> {
  const { resources } = readManifest<{ resources: string[] }>('vm-service/crds/kustomization.yaml');
  const definitions = resources.map((file) => readManifest<object & Definition>(`vm-service/crds/${file}`));
  for (const definition of definitions) await server.create(CRDS, definition);
  const end = Date.now() + ESTABLISH_TIMEOUT_MS;
  for (const { metadata } of definitions) {
    for (;;) {
      const { status } = JSON.parse((await server.send('GET', `${CRDS}/${metadata.name}`)).text) as Definition;
      if (status?.conditions?.some((condition) => condition.type === 'Established' && condition.status === 'True'))
        break;
      if (Date.now() > end) throw new Error(`${metadata.name} is not served: ${JSON.stringify(status)}`);
      await new Promise((resolve) => setTimeout(resolve, POLL_INTERVAL_MS));
    }
  }
}

/** A namespace of a real API server, whose replicas are pods with the service account and the role of the manifests. */
export class RealStoreCluster implements StoreCluster {
  private static namespaces = 0;
  private readonly opened: KubeSharedStore[] = [];

  private constructor(
    readonly namespace: string,
    private readonly kubeconfig: string,
  ) {}

  /** @param server has the definitions of the store */
  static async open(server: RealApiServer): Promise<RealStoreCluster> {
    const namespace = `stores-${++RealStoreCluster.namespaces}`;
    await server.createNamespace(namespace);
    const token = await server.createServiceAccount(namespace, ACCOUNT);
    const binding = readManifest<{ subjects: object[] }>('replicas/role-binding.yaml');
    await server.create(`${RBAC}/${namespace}/roles`, readManifest('replicas/role.yaml'));
    await server.create(`${RBAC}/${namespace}/rolebindings`, {
      ...binding,
      subjects: binding.subjects.map((subject) => ({ ...subject, namespace })),
    });
    return new RealStoreCluster(namespace, server.kubeconfig(token));
  }

  connect(options: Partial<KubeSharedStoreOptions> = {}): KubeSharedStore {
    const store = KubeSharedStore.connect({
      context: 'real',
      kubeconfig: { text: this.kubeconfig },
      namespace: this.namespace,
      clock: new SystemClock(),
      ...options,
    });
    this.opened.push(store);
    return store;
  }

  async join(options?: Partial<KubeSharedStoreOptions>): Promise<KubeSharedStore> {
    const store = this.connect(options);
    await store.open();
    return store;
  }

  /** Takes a verb for one resource away from the role. */
  async forbid(server: RealApiServer, verb: string, resource: string): Promise<void> {
    const role = readManifest<{ metadata: { name: string }; rules: Rule[] }>('replicas/role.yaml');
    const rules = role.rules.flatMap((rule) => {
      if (!rule.resources.includes(resource)) return [rule];
      const rest = { ...rule, resources: rule.resources.filter((name) => name !== resource) };
      const reduced = { ...rule, resources: [resource], verbs: rule.verbs.filter((name) => name !== verb) };
      return rest.resources.length > 0 ? [rest, reduced] : [reduced];
    });
    const path = `${RBAC}/${this.namespace}/roles/${role.metadata.name}`;
    const { status, text } = await server.send('PUT', path, JSON.stringify({ ...role, rules }));
    if (status !== 200) throw new Error(text);
  }

  async close(): Promise<void> {
    await Promise.all(this.opened.map((store) => store.close()));
  }
}
