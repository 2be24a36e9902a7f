import {
  Change,
  parseDiskSize,
  parseMemory,
  workOn,
  type Backend,
  type Caller,
  type ContainerSpec,
  type InstanceDirectory,
  type InstanceRef,
  type Plan,
  type Reservations,
  type Audit,
} from '@headgate/domain-contracts';
import type { PlaceInstance } from './place-instance.js';

/** A request to create a container. Quantities are in Kubernetes notation. */
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

/** The defaults of a container. */
const DEFAULTS = { cpu: 1, mem: '512Mi', disk: '5Gi' } as const;

/** Creates a container with its data volume. */
export class CreateContainer extends Change<[request: CreateContainerRequest], { readonly ref: InstanceRef }> {
  constructor(
    private readonly place: PlaceInstance,
    private readonly directory: InstanceDirectory,
    private readonly audit: Audit,
    private readonly reservations: Reservations,
  ) {
    super();
  }

  override async plan(request: CreateContainerRequest): Promise<Plan> {
    const { backend, spec } = this.prepare(request);
    const plan = await backend.require('containers').planCreate(spec);
    return this.reservations.inPlan(workOn('create', spec.ref), plan);
  }

  override async run(request: CreateContainerRequest, caller: Caller): Promise<{ readonly ref: InstanceRef }> {
    const { ref } = this.prepare(request).spec;
    return this.reservations.during(workOn('create', ref), async () => {
      const { backend, spec } = this.prepare(request);
      await this.audit.of(caller, 'create', ref, () => backend.require('containers').create(spec));
      await this.directory.waitFor(ref, (instance) => instance !== undefined);
      return { ref };
    });
  }

  private prepare(request: CreateContainerRequest): { backend: Backend; spec: ContainerSpec } {
    const { backend, ref } = this.place.place({ kind: 'ct', ...request });
    const { image, cpu = DEFAULTS.cpu, storageClass = '', privileged = false } = request;
    const memoryBytes = parseMemory(request.mem ?? DEFAULTS.mem);
    const diskBytes = parseDiskSize(request.disk ?? DEFAULTS.disk);
    return { backend, spec: { ref, image, cpu, memoryBytes, diskBytes, storageClass, privileged } };
  }
}
