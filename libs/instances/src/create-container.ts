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

interface PreparedContainer {
  readonly request: CreateContainerRequest;
  readonly backend: Backend;
  readonly spec: ContainerSpec;
}

export interface CreateContainerDeps {
  readonly place: PlaceInstance;
  readonly directory: InstanceDirectory;
  readonly audit: Audit;
  readonly reservations: Reservations;
}

/** Creates a container with its data volume. */
export class CreateContainer extends Change<
  [request: CreateContainerRequest],
  { readonly ref: InstanceRef },
  PreparedContainer
> {
  constructor(private readonly deps: CreateContainerDeps) {
    super();
  }

  protected override prepare(request: CreateContainerRequest): PreparedContainer {
    const { backend, ref } = this.deps.place.place({ kind: 'ct', ...request });
    const { image, cpu = DEFAULTS.cpu, storageClass = '', privileged = false } = request;
    const memoryBytes = parseMemory(request.mem ?? DEFAULTS.mem);
    const diskBytes = parseDiskSize(request.disk ?? DEFAULTS.disk);
    return { request, backend, spec: { ref, image, cpu, memoryBytes, diskBytes, storageClass, privileged } };
  }

  protected override async planPrepared({ backend, spec }: PreparedContainer): Promise<Plan> {
    const plan = await backend.require('containers').planCreate(spec);
    return this.deps.reservations.inPlan(workOn('create', spec.ref), plan);
  }

  protected override runPrepared(
    { request, spec: { ref } }: PreparedContainer,
    caller: Caller,
  ): Promise<{ readonly ref: InstanceRef }> {
    const { directory, audit, reservations } = this.deps;
    return reservations.during(workOn('create', ref), async () => {
      // The name may have been taken while the request waited.
      const { backend, spec } = this.prepare(request);
      await audit.of(caller, 'create', ref, () => backend.require('containers').create(spec));
      await directory.waitFor(ref, (instance) => instance !== undefined);
      return { ref };
    });
  }
}
