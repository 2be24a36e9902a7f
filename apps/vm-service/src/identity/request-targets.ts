import type { AllNeed, FolderNeed, InstanceNeed, Need, Target } from '@headgate/access';
import {
  DomainError,
  expectFolderPath,
  expectInstanceName,
  isScoped,
  type Grant,
  type Instance,
} from '@headgate/domain-contracts';
import type { FastifyRequest } from 'fastify';
import type { InstanceAccess } from './instance-access.js';

type Fields = Readonly<Record<string, unknown>>;
type Parts = Pick<FastifyRequest, 'params' | 'query' | 'body'>;

/** Finds the objects of a request for the policy, before the request is validated. */
export class RequestTargets {
  constructor(private readonly instances: InstanceAccess) {}

  /**
   * The objects that a need is about, one after the other: the next one is read when the policy has allowed the last
   * one.
   * @throws DomainError INVALID_INPUT, INVALID_NAME, INSTANCE_NOT_FOUND for an instance that the caller may not read
   */
  *of(need: Need, request: Parts, grant: Grant): Iterable<Target> {
    // Administrators and readers may do the same to every object, so none is looked up for them.
    if (!isScoped(grant)) yield {};
    else if (need.of === 'instance') yield this.instanceOf(need, request, grant);
    else if (need.of === 'folder') yield* this.foldersOf(need, request, grant);
    else if (need.of === 'all') yield this.folderOf(need, request);
    else yield {};
  }

  private instanceOf({ at, kind = 'vm', also }: InstanceNeed, request: Parts, grant: Grant): Target {
    if (at === 'ref') return this.targetOf(this.instances.findRef(fieldOf(request.body, 'ref'), grant));
    const { ns, name } = request.params as { ns: string; name: string };
    const query = request.query as Record<string, unknown>;
    const { context } = query;
    const instance = this.instances.find(
      {
        kind,
        namespace: expectInstanceName(ns, 'ns'),
        name: expectInstanceName(name),
        ...(typeof context === 'string' ? { context } : {}),
      },
      grant,
    );
    // The route must not choose another one of the same name.
    query['context'] = instance.ref.context;
    const field = also?.field;
    return { ...this.targetOf(instance), ...(field === undefined ? {} : { hasField: hasValue(request.body, field) }) };
  }

  /** The folder that a request names in addition. */
  private folderOf({ folder }: AllNeed, { body }: Parts): Target {
    if (!folder || !hasValue(body, folder.field)) return {};
    const path = expectFolderPath(fieldOf(body, folder.field), folder.field);
    return folder.unless
      ? { folder: path, hasField: folder.unless.some((field) => hasValue(body, field)) }
      : { folder: path };
  }

  private *foldersOf({ fields, ref }: FolderNeed, { body }: Parts, grant: Grant): Iterable<Target> {
    for (const field of fields) yield { folder: expectFolderPath(fieldOf(body, field), field) };
    if (ref) yield this.targetOf(this.instances.findRef(fieldOf(body, 'ref'), grant));
  }

  private targetOf(instance: Instance): Target {
    return { instance: this.instances.subjectOf(instance) };
  }
}

/** @throws DomainError INVALID_INPUT */
function fieldOf(values: unknown, name: string): string {
  const value = ((values ?? {}) as Fields)[name];
  if (typeof value === 'string') return value;
  throw new DomainError('INVALID_INPUT', `${name} must be a text.`);
}

/** Whether a body has anything but null and false in a field. */
const hasValue = (body: unknown, field: string): boolean =>
  typeof body === 'object' && body !== null && ![undefined, null, false].includes((body as Fields)[field] as null);
