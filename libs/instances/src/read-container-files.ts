import type { Readable } from 'node:stream';
import {
  findInstance,
  type Audit,
  type Caller,
  type FilePage,
  type FileRange,
  type Instance,
  type InstanceQuery,
  type InstanceSources,
} from '@headgate/domain-contracts';

export interface ReadContainerFilesDeps extends InstanceSources {
  readonly audit: Audit;
}

/** Lists and reads the files of containers. The journal has each download. */
export class ReadContainerFiles {
  constructor(private readonly deps: ReadContainerFilesDeps) {}

  /** @returns the container @throws DomainError like `findInstance` */
  check(query: InstanceQuery): Instance {
    return findInstance(this.deps, query, 'containerFiles').instance;
  }

  /** @throws DomainError like `findInstance` and `ContainerFiles` */
  async list(query: InstanceQuery, path: string, range: FileRange, signal: AbortSignal): Promise<FilePage> {
    const { ref, ability } = findInstance(this.deps, query, 'containerFiles');
    return ability.list(ref, path, range, signal);
  }

  /**
   * @param signal ends the reading
   * @throws DomainError like `findInstance` and `ContainerFiles`
   */
  async read(query: InstanceQuery, path: string, caller: Caller, signal: AbortSignal): Promise<Readable> {
    const { ref, ability } = findInstance(this.deps, query, 'containerFiles');
    const open = (): Promise<Readable> => ability.read(ref, path, signal);
    return this.deps.audit.of(caller, 'download file', ref, open, () => path);
  }
}
