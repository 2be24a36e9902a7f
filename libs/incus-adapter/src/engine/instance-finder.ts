import { DomainError, isSameRef, type InstanceRef } from '@headgate/domain-contracts';
import type { IncusApi, Tagged } from '../api/incus-api.js';
import type { InstanceObject } from '../api/incus-objects.js';
import { whenIdle, type InstancePath } from '../api/when-idle.js';
import { namespaceOf, refOf } from './api-names.js';

/** `/1.0/instances/<name>`, without its project. */
export const instancePath = ({ name }: Pick<InstanceObject, 'name'>): string =>
  `/1.0/instances/${encodeURIComponent(name)}`;

/** Finds instances on the server by their ref. */
export class InstanceFinder {
  /** @param project the only project that this context has; absent: all of them */
  constructor(
    private readonly context: string,
    private readonly api: IncusApi,
    private readonly project?: string,
  ) {}

  /** The part of a query that selects what this context has. */
  get scope(): Readonly<Record<string, string>> {
    return this.project === undefined ? { 'all-projects': 'true' } : { project: this.project };
  }

  all(signal?: AbortSignal): Promise<readonly InstanceObject[]> {
    return this.api.get<readonly InstanceObject[]>('/1.0/instances', { recursion: 1, ...this.scope }, signal);
  }

  /** @throws DomainError INSTANCE_NOT_FOUND, BACKEND_UNREACHABLE */
  async find(ref: InstanceRef): Promise<InstanceObject> {
    return (await this.findTagged(ref)).value;
  }

  /** With its etag, for a change that must not overwrite that of another client. @throws DomainError as `find` */
  async findTagged(ref: InstanceRef): Promise<Tagged<InstanceObject>> {
    if (this.project === undefined || ref.namespace === namespaceOf(this.project)) {
      const direct = await this.tryRead({ project: this.project ?? ref.namespace, name: ref.name });
      if (direct && isSameRef(refOf(this.context, direct.value), ref)) return direct;
    }
    // Its name may have been converted for the API.
    const found = (await this.all()).find((instance) => isSameRef(refOf(this.context, instance), ref));
    const read = found && (await this.tryRead(found));
    if (read) return read;
    throw instanceNotFound(ref);
  }

  /** @returns undefined when there is none */
  async read(path: InstancePath): Promise<InstanceObject | undefined> {
    return (await this.tryRead(path))?.value;
  }

  /** @throws DomainError INVALID_INPUT when the context has no project of that name */
  async projectOf(namespace: string): Promise<string> {
    const names = this.project === undefined ? await this.projects() : [this.project];
    const found = names.find((name) => namespaceOf(name) === namespace);
    if (found !== undefined) return found;
    const known = names.map(namespaceOf).join(', ');
    throw new DomainError('INVALID_INPUT', `namespace: ${this.context} has no project ${namespace}; use ${known}.`);
  }

  private async projects(): Promise<string[]> {
    const paths = await this.api.get<readonly string[]>('/1.0/projects');
    return paths.map((path) => decodeURIComponent(path.split('/').at(-1) ?? ''));
  }

  private async tryRead(path: InstancePath): Promise<Tagged<InstanceObject> | undefined> {
    try {
      const { project } = path;
      return await whenIdle(this.api, path, () => this.api.getTagged<InstanceObject>(instancePath(path), { project }));
    } catch (error) {
      // A project that does not exist has no instances either.
      if (DomainError.is(error, 'INSTANCE_NOT_FOUND', 'INVALID_INPUT')) return undefined;
      throw error;
    }
  }
}

export const instanceNotFound = ({ kind, context, namespace, name }: InstanceRef): DomainError =>
  new DomainError(
    'INSTANCE_NOT_FOUND',
    `There is no ${kind === 'vm' ? 'VM' : 'container'} ${name} in the project ${namespace} of ${context}.`,
  );
