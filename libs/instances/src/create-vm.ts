import {
  Change,
  DomainError,
  formatImageRef,
  parseDiskSize,
  parseMemory,
  throwFirstRefusal,
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
import { folderRefusals, JoinFolder, withBelongings, type JoinFolderDeps } from './join-folder.js';
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
  readonly network?: string;
  readonly storageClass?: string;
  /** The whole path of a folder that exists. */
  readonly folder?: string;
  readonly tags?: readonly string[];
  readonly start?: boolean;
}

export interface CreatedVm {
  readonly ref: InstanceRef;
  /** The task that fills the disk, when there is one. */
  readonly task?: string;
  /** Parts of the request that the VM lacks, one sentence each. */
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

export interface CreateVmDeps {
  readonly place: PlaceInstance;
  readonly catalog: ImageCatalog;
  readonly directory: InstanceDirectory;
  readonly tasks: TaskRunner;
  readonly audit: Audit;
  readonly builds: BuildVm;
  readonly reservations: Reservations;
  readonly folders: JoinFolderDeps['folders'];
}

interface PreparedVm {
  readonly request: CreateVmRequest;
  readonly backend: Backend;
  readonly spec: VmSpec;
}

/** Creates a VM. */
export class CreateVm extends Change<[request: CreateVmRequest], CreatedVm, PreparedVm> {
  constructor(private readonly deps: CreateVmDeps) {
    super();
  }

  protected override async prepare(request: CreateVmRequest): Promise<PreparedVm> {
    const choice = chooseSource(request, this.deps.catalog);
    const { backend, ref } = this.deps.place.place({ kind: 'vm', ...request });
    const source = choice.kind === 'unknownImage' ? await importedImage(backend, ref, choice) : choice;
    const availability = backend.require('provisioning').sources()[source.kind];
    if (availability !== true) throw new DomainError('NOT_SUPPORTED', availability);
    const { node, cloudInit, instancetype, preference, start = false, cpu = DEFAULTS.cpu } = request;
    const { os, firmware, tpm, autostart, network, storageClass, tags } = request;
    const memoryBytes = parseMemory(request.mem ?? DEFAULTS.mem);
    const diskBytes = parseDiskSize(request.disk ?? DEFAULTS.disk);
    return {
      request,
      backend,
      spec: {
        ref,
        cpu,
        memoryBytes,
        diskBytes,
        source,
        node,
        cloudInit,
        instancetype,
        preference,
        start,
        os,
        firmware,
        tpm,
        autostart,
        network,
        storageClass,
        tags,
      },
    };
  }

  protected override async planPrepared({ backend, spec, request }: PreparedVm): Promise<Plan> {
    const { builds, reservations } = this.deps;
    const created = isBuilt(spec)
      ? await builds.plan(backend, spec)
      : await backend.require('provisioning').planCreate(spec);
    const plan = withBelongings(created, request, this.deps);
    const image = importedImageOf(spec);
    const withImage = image === undefined ? plan : reservations.inPlan(workOn('use-image', image), plan);
    return reservations.inPlan(workOf(spec), withImage);
  }

  protected override async runPrepared(prepared: PreparedVm, caller: Caller): Promise<CreatedVm> {
    const image = importedImageOf(prepared.spec);
    if (!image) return this.reserved(prepared, caller);
    return this.deps.reservations.during(workOn('use-image', image), (use) => this.reserved(prepared, caller, use));
  }

  private reserved({ request, spec }: PreparedVm, caller: Caller, image?: Reservation): Promise<CreatedVm> {
    return this.deps.reservations.during(workOf(spec), (name) => this.create(request, caller, { name, image }));
  }

  /**
   * The disk of the VM is filled after its name is free again: it exists then, and may be deleted. Its image is needed
   * until then.
   */
  private async create(request: CreateVmRequest, caller: Caller, { name, image }: Reserved): Promise<CreatedVm> {
    const { audit, builds, tasks } = this.deps;
    // The name may have been taken while the request waited.
    const { backend, spec } = await this.prepare(request);
    const { ref } = spec;
    const { folder } = request;
    throwFirstRefusal({ refusals: folderRefusals(this.deps, folder) });
    return audit.of(caller, 'create', ref, async () => {
      if (isBuilt(spec)) return { ref, buildTask: await builds.start(backend, { ...spec, folder }, caller, name) };
      const { remaining, warnings } = await backend.require('provisioning').create(spec);
      const membership = new JoinFolder(this.deps, ref, folder);
      const task = remaining && (await tasks.start('create', ref, caller, membership.during(remaining), image));
      const problem = await membership.join(remaining === undefined ? 'member' : 'ending');
      return { ref, task, warnings: problem === undefined ? warnings : [...(warnings ?? []), problem] };
    });
  }
}

const workOf = (spec: VmSpec): Work => ({
  ...workOn(isBuilt(spec) ? 'build' : 'create', spec.ref),
  variant: spec.source.kind,
});

/** The ref of the imported image that a VM is created from, as text. */
const importedImageOf = ({ ref: { context, namespace }, source }: VmSpec): string | undefined =>
  source.kind === 'image' && source.entry.imported === true
    ? formatImageRef({ context, namespace, name: source.entry.name })
    : undefined;
