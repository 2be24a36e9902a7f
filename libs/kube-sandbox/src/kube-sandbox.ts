import { randomBytes } from 'node:crypto';
import { AdmissionChain, type UserInfo } from './apiserver/admission.js';
import { apiService } from './apiserver/api-services.js';
import { accessReviews } from './apiserver/auth/access-reviews.js';
import { ADMIN, Authenticator, serviceAccountUser } from './apiserver/auth/authenticator.js';
import { allowAll, type Authorizer } from './apiserver/auth/authorizer.js';
import { clusterRoleBinding, defaultRoles, roleBinding } from './apiserver/auth/default-roles.js';
import { RbacAuthorizer } from './apiserver/auth/rbac-authorizer.js';
import { builtInResources } from './apiserver/builtin/built-in-resources.js';
import { registerBuiltInSubresources } from './apiserver/builtin/built-in-subresources.js';
import { RealClock, type SandboxClock } from './apiserver/clock.js';
import { CustomResourceDefinitions } from './apiserver/controllers/custom-resource-definitions.js';
import { DisruptionController } from './apiserver/controllers/disruption-controller.js';
import { GarbageCollector } from './apiserver/controllers/garbage-collector.js';
import { NamespaceLifecycle } from './apiserver/controllers/namespace-lifecycle.js';
import { EventRecorder } from './apiserver/event-recorder.js';
import { Faults } from './apiserver/faults/faults.js';
import { ApiServer } from './apiserver/http/api-server.js';
import { ObjectReader } from './apiserver/http/object-reader.js';
import { ObjectWriter } from './apiserver/http/object-writer.js';
import { RequestCounter } from './apiserver/http/request-counter.js';
import { ResourceRouter } from './apiserver/http/resource-router.js';
import { ServerPaths, type VersionInfo } from './apiserver/http/server-paths.js';
import { SubresourceDispatch } from './apiserver/http/subresource-dispatch.js';
import { WritePipeline } from './apiserver/http/write-pipeline.js';
import { ObjectStore } from './apiserver/object-store.js';
import { enforcePodSecurity } from './apiserver/pod-security.js';
import { ResourceRegistry } from './apiserver/resource-registry.js';
import { SubresourceRegistry } from './apiserver/subresources.js';
import { newUid } from './apiserver/store/new-object.js';
import { kubeconfig } from './kubeconfig.js';
import type { SandboxContext, SandboxExtension } from './sandbox-extension.js';

export interface KubeSandboxOptions {
  /** Default 127.0.0.1. */
  host?: string;
  /** Default 0: a free port. */
  port?: number;
  /** Default: the system clock. */
  clock?: SandboxClock;
  /** Additions to the bare API server: kinds, controllers, subresources. */
  extensions?: SandboxExtension[];
  /** Initial namespaces in addition to `default` and the `kube-` ones. */
  namespaces?: string[];
  /**
   * Enforces RBAC. A record also binds users: `{alice: ['view', 'lab/editor']}` gives alice the ClusterRole `view` in
   * every namespace and the Role `editor` of the namespace `lab`.
   */
  rbac?: boolean | Record<string, string[]>;
  version?: VersionInfo;
  /** The number of changes kept per resource for watches that resume. */
  historyLimit?: number;
}

const DEFAULT_VERSION: VersionInfo = { major: '1', minor: '34', gitVersion: 'v1.34.0+sandbox' };
const INITIAL_NAMESPACES = ['default', 'kube-system', 'kube-public', 'kube-node-lease'];
/** The default compaction interval of an API server. */
/** A token that is mounted in a pod is renewed long before its end. */
const POD_TOKEN_SECONDS = 365 * 24 * 3600;
const COMPACTION_PERIOD_MS = 5 * 60_000;

/** A Kubernetes API server in this process, behind a real HTTP port. */
export class KubeSandbox implements SandboxContext {
  readonly clock: SandboxClock;
  readonly registry = new ResourceRegistry();
  readonly store: ObjectStore;
  readonly admission = new AdmissionChain();
  readonly subresources = new SubresourceRegistry();
  readonly events: EventRecorder;
  /** Counts the requests of clients. */
  readonly requests = new RequestCounter();
  readonly faults: Faults;
  private readonly authenticator: Authenticator;
  private readonly server: ApiServer;
  private readonly closers: (() => void | Promise<void>)[] = [];
  private readonly tokens = new Map<string, string>();
  private readonly host: string;

  private constructor(private readonly options: KubeSandboxOptions) {
    const {
      clock = new RealClock(),
      historyLimit,
      rbac = false,
      version = DEFAULT_VERSION,
      host = '127.0.0.1',
    } = options;
    this.host = host;
    this.clock = clock;
    this.store = new ObjectStore({ registry: this.registry, clock, historyLimit });
    this.events = new EventRecorder(this.store, clock);
    this.authenticator = new Authenticator(rbac ? 'anonymous' : 'admin');
    const authorizer: Authorizer = rbac ? new RbacAuthorizer(this.store) : allowAll;
    for (const definition of [...builtInResources, ...accessReviews(authorizer)]) this.registry.register(definition);
    enforcePodSecurity(this.admission, this.store);
    registerBuiltInSubresources(this.subresources, { ...this.context(), authenticator: this.authenticator });

    const reader = new ObjectReader(this.store, clock);
    const pipeline = new WritePipeline(this.store, this.admission, clock);
    const writer = new ObjectWriter(this.store, pipeline, reader, clock);
    const dispatch = new SubresourceDispatch(this.subresources);
    this.server = new ApiServer({
      authenticator: this.authenticator,
      authorizer,
      counter: this.requests,
      router: new ResourceRouter(this.registry, reader, writer, pipeline, dispatch),
      paths: new ServerPaths(this.registry, this.subresources, version, randomBytes(8).toString('hex')),
      subresources: dispatch,
    });
    this.faults = new Faults({
      store: this.store,
      admission: this.admission,
      clock,
      watches: reader.watches,
      stop: () => this.server.stop(),
      start: () => this.server.start(),
    });
    this.server.useFaults(this.faults);
  }

  /** Starts a server. @throws Error when the port is taken */
  static async listen(options: KubeSandboxOptions = {}): Promise<KubeSandbox> {
    const sandbox = new KubeSandbox(options);
    sandbox.startControllers();
    sandbox.store.load(INITIAL_NAMESPACES.concat(options.namespaces ?? []).map(namespace));
    sandbox.store.load(defaultRoles);
    sandbox.store.load(sandbox.registry.groupVersions().map((served) => apiService(served, sandbox.clock.timestamp())));
    for (const extension of options.extensions ?? []) {
      const uninstall = extension.install(sandbox.context());
      if (uninstall) sandbox.closers.push(uninstall);
    }
    if (typeof options.rbac === 'object') sandbox.bind(options.rbac);
    await sandbox.server.listen(sandbox.host, options.port ?? 0);
    return sandbox;
  }

  get url(): string {
    return `http://${this.host.includes(':') ? `[${this.host}]` : this.host}:${this.server.port}`;
  }

  get port(): number {
    return this.server.port;
  }

  /** A kubeconfig for the administrator, or for a user of that name. */
  kubeconfig(user?: string): string {
    return kubeconfig({
      server: this.url,
      user: user ?? ADMIN.username,
      token: user === undefined ? this.adminToken() : this.tokenForUser(user),
    });
  }

  /** A kubeconfig that acts as a service account. */
  kubeconfigFor(namespaceName: string, serviceAccount: string): string {
    return kubeconfig({
      server: this.url,
      user: serviceAccount,
      token: this.tokenFor(namespaceName, serviceAccount),
      namespace: namespaceName,
    });
  }

  /** A bearer token of a service account, like the one mounted in its pods. */
  tokenFor(namespaceName: string, serviceAccount: string): string {
    const id = serviceAccountUser(namespaceName, serviceAccount).username;
    const uid = this.store.get('serviceaccounts', { namespace: namespaceName, name: serviceAccount })?.metadata.uid;
    const token =
      this.tokens.get(id) ??
      this.authenticator.issueForServiceAccount({
        namespace: namespaceName,
        name: serviceAccount,
        uid: uid ?? newUid(),
        issuedAt: Math.floor(this.clock.now() / 1000),
        lifetimeSeconds: POD_TOKEN_SECONDS,
      });
    this.tokens.set(id, token);
    return token;
  }

  /** A bearer token of a user, optionally in groups. */
  tokenForUser(username: string, groups: string[] = []): string {
    return this.tokenOf({ username, groups: [...groups, 'system:authenticated'] });
  }

  /** Requests with this token get 401 from now on, as with an expired token. */
  revoke(token: string): void {
    this.authenticator.revoke(token);
    for (const [id, known] of this.tokens) if (known === token) this.tokens.delete(id);
  }

  /** Stops the extensions and the server, and closes every connection. */
  async close(): Promise<void> {
    for (const close of this.closers.toReversed()) await close();
    // The caller may still use a clock that it passed in.
    if (!this.options.clock) this.clock.stop();
    await this.server.stop();
  }

  private context(): SandboxContext {
    const { store, registry, admission, subresources, clock, events } = this;
    return { store, registry, admission, subresources, clock, events };
  }

  private startControllers(): void {
    this.closers.push(new CustomResourceDefinitions(this.store, this.registry, this.clock).start());
    this.closers.push(new NamespaceLifecycle(this.store, this.registry).start());
    this.closers.push(new GarbageCollector(this.store).start());
    this.closers.push(new DisruptionController(this.store, this.clock).start());
    let previous = 0;
    const cancel = this.clock.repeat(() => {
      this.store.compact(previous);
      previous = this.store.revision;
    }, COMPACTION_PERIOD_MS);
    this.closers.push(cancel);
  }

  private bind(users: Record<string, string[]>): void {
    const bindings = Object.entries(users).flatMap(([user, roles]) =>
      roles.map((role, index) => {
        const subjects = [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: user }];
        const [namespaceName, name] = role.includes('/') ? role.split('/', 2) : [undefined, role];
        const id = `sandbox:${user}:${index}`;
        return namespaceName
          ? roleBinding(namespaceName, id, { kind: 'Role', name: name! }, subjects)
          : clusterRoleBinding(id, name!, subjects);
      }),
    );
    this.store.load(bindings);
  }

  private adminToken(): string {
    return this.tokenOf(ADMIN);
  }

  private tokenOf(user: UserInfo): string {
    const id = [user.username, ...user.groups].join('\n');
    const token = this.tokens.get(id) ?? this.authenticator.issue(user);
    this.tokens.set(id, token);
    return token;
  }
}

function namespace(name: string) {
  return {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name, labels: { 'kubernetes.io/metadata.name': name } },
    spec: { finalizers: ['kubernetes'] },
    status: { phase: 'Active' },
  };
}
