import { readFileSync } from 'node:fs';
import { SystemClock } from '@headgate/domain-contracts';
import { KubeSandbox, type KubeSandboxOptions } from '@headgate/kube-sandbox';
import { parse } from 'yaml';
import { KubeSharedStore, type KubeSharedStoreOptions } from '../kube-shared-store.js';

const DEPLOY = new URL('../../../../../deploy/', import.meta.url);
export const NAMESPACE = 'headgate';

/** A file of `deploy`, parsed. */
export const readManifest = <T = Record<string, unknown>>(path: string): T =>
  parse(readFileSync(new URL(path, DEPLOY), 'utf8')) as T;

/** Everything that the stores need in a cluster, as an administrator installs it. */
export async function installStore({
  url,
  kubeconfig,
}: Pick<KubeSandbox, 'url'> & { kubeconfig: string }): Promise<void> {
  const [admin] = parse(kubeconfig).users as { user: { token: string } }[];
  for (const file of readManifest<{ resources: string[] }>('vm-service/crds/kustomization.yaml').resources) {
    const response = await fetch(`${url}/apis/apiextensions.k8s.io/v1/customresourcedefinitions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${admin?.user.token}` },
      body: JSON.stringify(readManifest(`vm-service/crds/${file}`)),
    });
    if (response.status !== 201) throw new Error(`${file}: ${await response.text()}`);
  }
}

/** A cluster with the definitions of the store, and any number of replicas over it. */
export class StoreHarness {
  private readonly opened: KubeSharedStore[] = [];

  private constructor(readonly sandbox: KubeSandbox) {}

  static async open(options: KubeSandboxOptions = {}, { install = true } = {}): Promise<StoreHarness> {
    const sandbox = await KubeSandbox.listen({ namespaces: [NAMESPACE], ...options });
    if (install) await installStore({ url: sandbox.url, kubeconfig: sandbox.kubeconfig() });
    return new StoreHarness(sandbox);
  }

  /** A replica that is connected, but has read nothing yet. */
  connect(options: Partial<KubeSharedStoreOptions> = {}, user?: string): KubeSharedStore {
    const store = KubeSharedStore.connect({
      context: 'lab',
      kubeconfig: { text: this.sandbox.kubeconfig(user) },
      namespace: NAMESPACE,
      clock: new SystemClock(),
      ...options,
    });
    this.opened.push(store);
    return store;
  }

  async join(options: Partial<KubeSharedStoreOptions> = {}, user?: string): Promise<KubeSharedStore> {
    const store = this.connect(options, user);
    await store.open();
    return store;
  }

  async close(): Promise<void> {
    await Promise.all(this.opened.map((store) => store.close()));
    await this.sandbox.close();
  }
}
