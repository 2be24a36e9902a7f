import {
  Change,
  parseDiskSize,
  parseMemory,
  throwFirstRefusal,
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
import { folderRefusals, JoinFolder, withBelongings, type JoinFolderDeps } from './join-folder.js';
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
  /** The whole path of a folder that exists. */
  readonly folder?: string;
}

export interface CreatedContainer {
  readonly ref: InstanceRef;
  /** Parts of the request that the container lacks, one sentence each. */
  readonly warnings?: readonly string[];
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
  readonly folders: JoinFolderDeps['folders'];
}

/** Creates a container with its data volume. */
export class CreateContainer extends Change<[request: CreateContainerRequest], CreatedContainer, PreparedContainer> {
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

  protected override async planPrepared({ backend, spec, request }: PreparedContainer): Promise<Plan> {
    const plan = withBelongings(await backend.require('containers').planCreate(spec), request, this.deps);
    return this.deps.reservations.inPlan(workOn('create', spec.ref), plan);
  }

  protected override runPrepared(
    { request, spec: { ref } }: PreparedContainer,
    caller: Caller,
  ): Promise<CreatedContainer> {
    const { audit, reservations } = this.deps;
    return reservations.during(workOn('create', ref), async () => {
      // The name may have been taken while the request waited.
      const { backend, spec } = this.prepare(request);
      throwFirstRefusal({ refusals: folderRefusals(this.deps, request.folder) });
      return audit.of(caller, 'create', ref, async () => {
        await backend.require('containers').create(spec);
        const problem = await new JoinFolder(this.deps, ref, request.folder).join('member');
        return problem === undefined ? { ref } : { ref, warnings: [problem] };
      });
    });
  }
}
