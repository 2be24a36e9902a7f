import { Diagnostics, messageOf, type DiagnosticCheck } from '@headgate/domain-contracts';
import type { KubeApi } from '../api/kube-api.js';
import type { ClusterDiscovery } from '../discovery/cluster-discovery.js';
import { ensureNamespace, namespaceExists } from '../api/ensure-namespace.js';
import { check, titleOf, type CheckOutcome } from './check.js';
import { componentChecks } from './component-checks.js';
import { handlerChecks, type ReadHandlers } from './handler-checks.js';
import { nodeRights } from './node-rights.js';
import { nodeChecks } from './node-checks.js';
import { missingPermissions } from './missing-permissions.js';
import { storageChecks } from './storage-checks.js';

const MAX_LISTED_PERMISSIONS = 10;

/** The doctor asks lost clusters too, and their users wait for it. */
const VERSION_TIMEOUT_MS = 3_000;

/** What the configuration allows besides the usual. */
export interface AllowedFeatures {
  /** Absent where virt-handler is not read. */
  readonly handlers?: ReadHandlers | undefined;
  /** Whether nodes are cordoned and drained. */
  readonly schedulesNodes?: boolean;
}

/** Checks a cluster for problems and names a remedy for each. */
export class KubeDiagnostics extends Diagnostics {
  /** @param defaultNamespace the namespace of new instances when a request names none */
  constructor(
    private readonly api: KubeApi,
    private readonly discovery: ClusterDiscovery,
    private readonly defaultNamespace: string,
    private readonly allowed: AllowedFeatures = {},
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
        {
          name: 'discovery',
          status: 'error',
          message: facts,
          fixable: false,
          remedy: 'Check the log of the API server.',
          ...titleOf('discovery'),
        },
      ];
    }
    const others = await Promise.all([
      ...componentChecks(this.api, facts),
      ...handlerChecks(this.api, facts, this.allowed.handlers),
      ...storageChecks(this.api),
      ...nodeChecks(this.api, facts),
      ...(this.allowed.schedulesNodes ? [check('node-scheduling', () => nodeRights(this.api))] : []),
      check('rights', () => this.permissions((group) => group === '' || facts.servesGroup(group))),
      check('namespace', () => this.namespace()),
    ]);
    return [reachable, ...others];
  }

  override async fix(names = ['namespace'] as readonly string[]): Promise<readonly string[]> {
    if (!names.includes('namespace')) return [];
    if ((await namespaceExists(this.api, this.defaultNamespace)) !== false) return [];
    await ensureNamespace(this.api, this.defaultNamespace);
    return ['namespace'];
  }

  private async reachable(): Promise<CheckOutcome> {
    const { gitVersion } = await this.api.json<{ gitVersion?: string }>('GET', '/version', {
      timeoutMs: VERSION_TIMEOUT_MS,
    });
    return { status: 'ok', message: `The API server answers (Kubernetes ${gitVersion ?? 'of an unknown version'}).` };
  }

  private async permissions(isServed: (group: string) => boolean): Promise<CheckOutcome> {
    const missing = await missingPermissions(this.api, isServed);
    if (missing.length === 0) return { status: 'ok', message: 'The account has all required permissions.' };
    const hidden = missing.length - MAX_LISTED_PERMISSIONS;
    return {
      status: 'warning',
      message: `The account may not ${missing.slice(0, MAX_LISTED_PERMISSIONS).join(', ')}${hidden > 0 ? ` and ${hidden} more` : ''}.`,
      remedy: 'Bind the ClusterRole from deploy/kustomize to the account.',
    };
  }

  private async namespace(): Promise<CheckOutcome> {
    const name = this.defaultNamespace;
    const exists = await namespaceExists(this.api, name);
    if (exists === undefined) {
      return {
        status: 'warning',
        message: 'The account may not read namespaces.',
        remedy: 'Let the account get namespaces.',
      };
    }
    if (exists) return { status: 'ok', message: `The namespace ${name} exists.` };
    return {
      status: 'warning',
      message: `The namespace ${name}, the default for new instances, does not exist.`,
      fixable: true,
      remedy: 'Create it here, or create an instance: the first one creates it too.',
    };
  }
}
