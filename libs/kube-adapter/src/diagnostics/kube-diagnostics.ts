import { Diagnostics, messageOf, type DiagnosticCheck } from '@headgate/domain-contracts';
import type { KubeApi } from '../api/kube-api.js';
import { NAMESPACES } from '../api/resources.js';
import type { ClusterDiscovery } from '../discovery/cluster-discovery.js';
import { ensureNamespace, namespaceExists } from '../provisioning/ensure-namespace.js';
import { check, type CheckOutcome } from './check.js';
import { componentChecks } from './component-checks.js';
import { nodeChecks } from './node-checks.js';
import { missingRights } from './own-rights.js';
import { storageChecks } from './storage-checks.js';

/** What is wrong with a cluster, and what would help. */
export class KubeDiagnostics extends Diagnostics {
  /** @param defaultNamespace where instances go when nobody names another */
  constructor(
    private readonly api: KubeApi,
    private readonly discovery: ClusterDiscovery,
    private readonly defaultNamespace: string,
  ) {
    super();
  }

  override async checks(): Promise<readonly DiagnosticCheck[]> {
    const reachable = await check('api', () => this.reachable());
    if (reachable.status === 'error') return [reachable];
    const facts = await this.discovery.refresh().catch((error: unknown) => messageOf(error));
    if (typeof facts === 'string') {
      return [
        reachable,
        { name: 'discovery', status: 'error', message: facts, fixable: false, remedy: 'Look at the API server.' },
      ];
    }
    const rest = await Promise.all([
      ...componentChecks(this.api, facts),
      ...storageChecks(this.api),
      ...nodeChecks(this.api, facts),
      check('rights', () => this.rights((group) => group === '' || facts.servesGroup(group))),
      check('namespace', () => this.namespace()),
    ]);
    return [reachable, ...rest];
  }

  override async fix(): Promise<readonly string[]> {
    if ((await namespaceExists(this.api, this.defaultNamespace)) !== false) return [];
    await ensureNamespace(this.api, this.defaultNamespace);
    return ['namespace'];
  }

  private async reachable(): Promise<CheckOutcome> {
    const { gitVersion } = await this.api.json<{ gitVersion?: string }>('GET', '/version');
    return { status: 'ok', message: `The API server answers (Kubernetes ${gitVersion ?? 'of an unknown version'}).` };
  }

  private async rights(served: (group: string) => boolean): Promise<CheckOutcome> {
    const missing = await missingRights(this.api, served);
    if (missing.length === 0) return { status: 'ok', message: 'The account may do everything that is needed.' };
    return {
      status: 'warning',
      message: `The account may not ${missing.slice(0, 10).join(', ')}${missing.length > 10 ? ` and ${missing.length - 10} more` : ''}.`,
      remedy: 'Bind the ClusterRole from deploy/kustomize to it.',
    };
  }

  private async namespace(): Promise<CheckOutcome> {
    const name = this.defaultNamespace;
    const exists = await namespaceExists(this.api, name);
    if (exists === undefined)
      return { status: 'warning', message: `The account may not look at the ${NAMESPACES.plural}.` };
    if (exists) return { status: 'ok', message: `The namespace ${name} is there.` };
    return {
      status: 'warning',
      message: `The namespace ${name}, where new instances go by default, is missing.`,
      fixable: true,
      remedy: 'Let it be created (it is also created with the first instance).',
    };
  }
}
