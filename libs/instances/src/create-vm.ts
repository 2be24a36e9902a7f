import {
  Change,
  DomainError,
  formatImageRef,
  parseDiskSize,
  parseMemory,
  workOn,
  type Backend,
  type Caller,
  type Firmware,
  type ImageCatalog,
  type InstanceDirectory,
  type InstanceRef,
  type Plan,
  type Reservation,
  type Reservations,
  type TaskRunner,
  type VmSpec,
  type Work,
  type Audit,
} from '@headgate/domain-contracts';
import type { PlaceInstance } from './place-instance.js';
import { isBuilt, type BuildVm } from './build-vm.js';
import { importedImage } from './imported-image.js';
import { chooseSource, type SourceFields } from './vm-source.js';

/** A request to create a VM. Quantities are in Kubernetes notation. */
export interface CreateVmRequest extends SourceFields {
  readonly name: string;
  readonly namespace?: string;
  readonly context?: string;
  readonly cpu?: number;
  readonly mem?: string;
  readonly disk?: string;
  readonly node?: string;
  readonly cloudInit?: string;
  readonly instancetype?: string;
  readonly preference?: string;
  readonly os?: string;
  readonly firmware?: Firmware;
  readonly tpm?: boolean;
  readonly autostart?: boolean;
  readonly start?: boolean;
}

export interface CreatedVm {
  readonly ref: InstanceRef;
  /** The task that fills the disk, when there is one. */
  readonly task?: string;
  /** Parts of the order that the VM lacks, one sentence each. */
  readonly warnings?: readonly string[];
  /** The task that builds the disk and then creates the VM. */
  readonly buildTask?: string;
}

/** What a creation has until its response. */
interface Reserved {
  readonly name: Reservation;
  /** The imported image that the VM is created from. */
  readonly image: Reservation | undefined;
}

/** The defaults of a VM. Source: the API contract. */
const DEFAULTS = { cpu: 2, mem: '4G', disk: '20G' } as const;

/** Creates a VM. */
export class CreateVm extends Change<[request: CreateVmRequest], CreatedVm> {
  constructor(
    private readonly place: PlaceInstance,
    private readonly catalog: ImageCatalog,
    private readonly directory: InstanceDirectory,
    private readonly tasks: TaskRunner,
    private readonly audit: Audit,
    private readonly builds: BuildVm,
    private readonly reservations: Reservations,
  ) {
    super();
  }

  override async plan(request: CreateVmRequest): Promise<Plan> {
    const { backend, spec } = await this.prepare(request);
    const plan = isBuilt(spec)
      ? await this.builds.plan(backend, spec)
      : await backend.require('provisioning').planCreate(spec);
    const image = importedImageOf(spec);
    const withImage = image === undefined ? plan : this.reservations.inPlan(workOn('use-image', image), plan);
    return this.reservations.inPlan(workOf(spec), withImage);
  }

  override async run(request: CreateVmRequest, caller: Caller): Promise<CreatedVm> {
    const { spec } = await this.prepare(request);
    const image = importedImageOf(spec);
    if (!image) return this.reserved(request, spec, caller);
    return this.reservations.during(workOn('use-image', image), (use) => this.reserved(request, spec, caller, use));
  }

  private reserved(request: CreateVmRequest, spec: VmSpec, caller: Caller, image?: Reservation): Promise<CreatedVm> {
    return this.reservations.during(workOf(spec), (name) => this.create(request, caller, { name, image }));
  }

  /** The disk of the VM is filled after its name is free again: it exists then, and may be deleted. Its image is needed until then. */
  private async create(request: CreateVmRequest, caller: Caller, { name, image }: Reserved): Promise<CreatedVm> {
    // The name may have been taken while the request waited.
    const { backend, spec } = await this.prepare(request);
    const { ref } = spec;
    return this.audit.of(caller, 'create', ref, async () => {
      if (isBuilt(spec)) return { ref, buildTask: await this.builds.start(backend, spec, caller, name) };
      const { remaining, warnings } = await backend.require('provisioning').create(spec);
      const task = remaining && (await this.tasks.start('create', ref, caller, remaining, image));
      await this.directory.waitFor(ref, (instance) => instance !== undefined);
      return { ref, task, warnings };
    });
  }

  private async prepare(request: CreateVmRequest): Promise<{ backend: Backend; spec: VmSpec }> {
    const choice = chooseSource(request, this.catalog);
    const { backend, ref } = this.place.place({ kind: 'vm', ...request });
    const source = choice.kind === 'unknownImage' ? await importedImage(backend, ref, choice) : choice;
    const availability = backend.require('provisioning').sources()[source.kind];
    if (availability !== true) throw new DomainError('NOT_SUPPORTED', availability);
    const { node, cloudInit, instancetype, preference, start = false, cpu = DEFAULTS.cpu } = request;
    const { os, firmware, tpm, autostart } = request;
    const memoryBytes = parseMemory(request.mem ?? DEFAULTS.mem);
    const diskBytes = parseDiskSize(request.disk ?? DEFAULTS.disk);
    return {
      backend,
      spec: {
        ...{ ref, cpu, memoryBytes, diskBytes, source, node, cloudInit, instancetype, preference, start },
        ...{ os, firmware, tpm, autostart },
      },
    };
  }
}

const workOf = (spec: VmSpec): Work => workOn(isBuilt(spec) ? 'build' : 'create', spec.ref);

/** The ref of the imported image that a VM is created from, as text. */
const importedImageOf = ({ ref: { context, namespace }, source }: VmSpec): string | undefined =>
  source.kind === 'image' && source.entry.imported === true
    ? formatImageRef({ context, namespace, name: source.entry.name })
    : undefined;
