import {
  parseBytes,
  planOf,
  type Backend,
  type BackendDirectory,
  type Caller,
  type ContainerSpec,
  type Containers,
  type InstanceDirectory,
  type InstanceQuery,
  type InstanceRef,
  type Plan,
} from '@headgate/domain-contracts';
import type { Audit } from './audit.js';
import type { PlaceInstance } from './place-instance.js';

/** A request to make a container; quantities in Kubernetes notation. */
export interface CreateContainerRequest {
  readonly name: string;
  readonly image: string;
  readonly namespace?: string;
  readonly context?: string;
  readonly cpu?: number;
  readonly mem?: string;
  readonly disk?: string;
  readonly storageClass?: string;
  readonly privileged?: boolean;
}

/** What a container gets where the request is silent. */
const DEFAULTS = { cpu: 1, mem: '512Mi', disk: '5Gi' } as const;

export const CONTAINER_ACTIONS = ['start', 'stop'] as const;
export type ContainerAction = (typeof CONTAINER_ACTIONS)[number];

/** Makes, starts, stops and removes containers. */
export class RunContainer {
  constructor(
    private readonly place: PlaceInstance,
    private readonly directory: InstanceDirectory,
    private readonly backends: BackendDirectory,
    private readonly audit: Audit,
  ) {}

  async planCreate(request: CreateContainerRequest): Promise<Plan> {
    const { backend, spec } = this.prepare(request);
    return backend.need('containers').planCreate(spec);
  }

  async create(request: CreateContainerRequest, caller: Caller): Promise<InstanceRef> {
    const { backend, spec } = this.prepare(request);
    await this.audit.of(caller, 'create', spec.ref, () => backend.need('containers').create(spec));
    await this.directory.seen(spec.ref, (instance) => instance !== undefined);
    return spec.ref;
  }

  async planAction(query: InstanceQuery, action: ContainerAction): Promise<Plan> {
    const { ref } = this.find(query);
    return planOf([{ name: action, detail: ref.name }]);
  }

  async act(query: InstanceQuery, action: ContainerAction, caller: Caller): Promise<void> {
    const { ref, containers } = this.find(query);
    await this.audit.of(caller, action, ref, () => containers[action](ref));
  }

  async planDelete(query: InstanceQuery): Promise<Plan> {
    const { ref, containers } = this.find(query);
    return containers.planDelete(ref);
  }

  async delete(query: InstanceQuery, caller: Caller): Promise<void> {
    const { ref, containers } = this.find(query);
    await this.audit.of(caller, 'delete', ref, () => containers.delete(ref));
    await this.directory.seen(ref, (instance) => instance === undefined);
  }

  private find(query: InstanceQuery): { ref: InstanceRef; containers: Containers } {
    const { ref } = this.directory.resolve(query);
    return { ref, containers: this.backends.get(ref.context).need('containers') };
  }

  private prepare(request: CreateContainerRequest): { backend: Backend; spec: ContainerSpec } {
    const { backend, ref } = this.place.place({ kind: 'ct', ...request });
    const { image, cpu = DEFAULTS.cpu, storageClass = '', privileged = false } = request;
    const memoryBytes = parseBytes(request.mem ?? DEFAULTS.mem, 'mem');
    const diskBytes = parseBytes(request.disk ?? DEFAULTS.disk, 'disk');
    return { backend, spec: { ref, image, cpu, memoryBytes, diskBytes, storageClass, privileged } };
  }
}
