import {
  DomainError,
  expectFolderPath,
  expectInstanceName,
  FolderDirectory,
  formatRef,
  InstanceDirectory,
  parseRef,
  type AccessAction,
  type AccessSubject,
  type Caller,
  type Grant,
  type Instance,
  type InstanceQuery,
} from '@headgate/domain-contracts';
import { FleetReader } from '@headgate/fleet';
import type { FastifyRequest } from 'fastify';
import { ROUTE_RULES, type RouteRule } from './route-rules.js';

type Fields = Readonly<Record<string, unknown>>;

const KIND_WORDS = { vm: 'VM', ct: 'container' };

/** Decides whether a grant allows a request, before its route runs. */
export class RouteAccess {
  constructor(
    private readonly fleet: FleetReader,
    private readonly directory: InstanceDirectory,
    private readonly folders: FolderDirectory,
  ) {}

  /**
   * @returns the caller as the route sees them: an administrator of the objects of this request
   * @throws DomainError NOT_PERMITTED, INSTANCE_NOT_FOUND for an instance that the caller may not read
   */
  admit(request: FastifyRequest, caller: Caller, grant: Grant): Caller {
    const method = request.method === 'HEAD' ? 'GET' : request.method;
    const route = `${method} ${request.routeOptions.url ?? ''}`;
    const rule = Object.hasOwn(ROUTE_RULES, route) ? ROUTE_RULES[route] : undefined;
    if (!rule) throw new DomainError('NOT_PERMITTED', `${grant.label} has no access to ${route}.`);
    return { ...caller, admin: this.check(rule, request, grant) };
  }

  /**
   * The instance that a query means for a caller. Instances that they may not read do not exist for them.
   * @throws DomainError INSTANCE_NOT_FOUND, AMBIGUOUS_INSTANCE, NOT_READY, BACKEND_UNREACHABLE
   */
  find(query: InstanceQuery, grant: Grant | undefined): Instance {
    if (!grant) return this.directory.resolve(query);
    const contexts = query.context === undefined ? this.fleet.states().map(({ context }) => context) : [query.context];
    const readable = contexts
      .flatMap((context) => this.directory.get({ ...query, context }) ?? [])
      .filter((instance) => grant.allows('read', this.subjectOf(instance)));
    const [only, other] = readable;
    if (only && !other) return only;
    if (other) {
      throw new DomainError(
        'AMBIGUOUS_INSTANCE',
        `${query.namespace}/${query.name} exists in several contexts; add ?context= with one of them.`,
        { details: { candidates: readable.map(({ ref }) => formatRef(ref)) } },
      );
    }
    this.expectKnown(query);
    throw new DomainError(
      'INSTANCE_NOT_FOUND',
      `There is no ${KIND_WORDS[query.kind]} ${query.namespace}/${query.name}.`,
    );
  }

  /** @throws DomainError NOT_PERMITTED */
  expect(action: AccessAction, instance: Instance, grant: Grant): void {
    if (!grant.allows(action, this.subjectOf(instance))) throw refusal(grant, action, `${instance.ref.name}`);
  }

  subjectOf(instance: Instance): AccessSubject {
    const { ref, uid } = instance;
    const folder = this.folders.folderOf({ ref: formatRef(ref), uid });
    return folder === undefined ? { instance } : { instance, folder };
  }

  /** @returns whether the route may treat the caller as an administrator */
  private check(rule: RouteRule, request: FastifyRequest, grant: Grant): boolean {
    switch (rule.needs) {
      case 'nothing':
        return false;
      case 'filter':
        return true;
      case 'shared':
        if (!grant.readsShared) throw refusal(grant, 'read', 'data that belongs to no instance');
        return false;
      case 'all':
        if (!grant.allowsAll(rule.action))
          throw refusal(grant, rule.action, rule.action === 'manage' ? 'the service' : 'everything');
        return rule.action !== 'read';
      case 'instance':
        return this.checkInstance(rule, request, grant);
      case 'ref':
        this.expect(rule.action, this.findRef(fieldOf(request.body, 'ref'), grant), grant);
        return true;
      case 'folder':
        return this.checkFolder(rule, request, grant);
    }
  }

  private checkInstance(
    { kind, action, all, field }: RouteRule & { needs: 'instance' },
    request: FastifyRequest,
    grant: Grant,
  ): boolean {
    const { ns, name } = request.params as { ns: string; name: string };
    const query = request.query as Record<string, unknown>;
    const { context } = query;
    const instance = this.find(
      {
        kind,
        namespace: expectInstanceName(ns, 'ns'),
        name: expectInstanceName(name),
        ...(typeof context === 'string' ? { context } : {}),
      },
      grant,
    );
    this.expect(action, instance, grant);
    const isNeeded = field === undefined || hasValue(request.body, field);
    if (all && isNeeded && !grant.allowsAll(all)) throw refusal(grant, all, field ? `another ${field}` : 'everything');
    // The route must not choose another one of the same name.
    query['context'] = instance.ref.context;
    return action !== 'read' || grant.allows('secrets', this.subjectOf(instance));
  }

  private checkFolder(
    { action, fields, ref }: RouteRule & { needs: 'folder' },
    request: FastifyRequest,
    grant: Grant,
  ): boolean {
    for (const field of fields) {
      const path = expectFolderPath(fieldOf(request.body, field), field);
      if (!grant.allowsFolder(action, path)) throw refusal(grant, action, `the folder ${path}`);
    }
    if (ref) this.expect(action, this.findRef(fieldOf(request.body, 'ref'), grant), grant);
    return true;
  }

  private findRef(text: string, grant: Grant): Instance {
    const { namespace, ...rest } = parseRef(text);
    return this.find({ namespace, ...rest }, grant);
  }

  /** The errors of a context that was not listed yet, or can't be reached. */
  private expectKnown(query: InstanceQuery): void {
    try {
      this.directory.resolve(query);
    } catch (error) {
      if (!DomainError.is(error, 'AMBIGUOUS_INSTANCE', 'INSTANCE_NOT_FOUND')) throw error;
    }
  }
}

/** @throws DomainError INVALID_INPUT */
function fieldOf(values: unknown, name: string): string {
  const value = ((values ?? {}) as Fields)[name];
  if (typeof value === 'string') return value;
  throw new DomainError('INVALID_INPUT', `${name} must be a text.`);
}

/** Whether a body has anything but null in a field. */
const hasValue = (body: unknown, field: string): boolean =>
  typeof body === 'object' && body !== null && ((body as Fields)[field] ?? null) !== null;

const refusal = (grant: Grant, action: AccessAction, object: string): DomainError =>
  new DomainError('NOT_PERMITTED', `${grant.label} has no right to ${VERBS[action]} ${object}.`);

const VERBS: Readonly<Record<AccessAction, string>> = {
  read: 'read',
  watch: 'open the console of',
  console: 'type into the console of',
  power: 'start or stop',
  change: 'change',
  guest: 'control the guest of',
  create: 'create instances in',
  delete: 'delete',
  export: 'export the disk of',
  secrets: 'read the secrets of',
  manage: 'manage',
};
