import {
  closeWhenRead,
  DomainError,
  hashesOf,
  isVm,
  parseRef,
  type BackendDirectory,
  type DiskIngest,
  type DiskRecording,
  type DiskSource,
  type IngestTarget,
  type InstanceDirectory,
  type InstancePower,
  type InstanceRef,
  type LiveDisks,
  type VirtualMachine,
} from '@headgate/domain-contracts';
import { compareDisks } from '../disks/compare-disks.js';
import type { MoveInput } from '../move-input.js';

export interface MoveEndsDeps {
  readonly directory: InstanceDirectory;
  readonly backends: BackendDirectory;
}

/**
 * Both ends of one move: the VM at the source, and its copy at the destination. The abilities are looked up when they
 * are used.
 */
export class MoveEnds {
  readonly ref: InstanceRef;
  readonly target: IngestTarget;
  /** Of the changes at the source, in a warm move. */
  readonly recording: DiskRecording;
  private readonly uid: string;

  constructor(
    private readonly deps: MoveEndsDeps,
    { id, source, destination, uid }: MoveInput,
  ) {
    this.ref = parseRef(source);
    this.target = { id, ref: parseRef(destination) };
    this.recording = { id, ref: this.ref };
    this.uid = uid;
  }

  get source(): DiskSource {
    return this.deps.backends.get(this.ref.context).require('diskSource');
  }

  get liveDisks(): LiveDisks {
    return this.deps.backends.get(this.ref.context).require('liveDisks');
  }

  get power(): InstancePower {
    return this.deps.backends.get(this.ref.context).require('power');
  }

  get ingest(): DiskIngest {
    return this.deps.backends.get(this.target.ref.context).require('diskIngest');
  }

  /** The VM at the source. Undefined when it is gone, or when another VM has its name. */
  get vm(): VirtualMachine | undefined {
    const found = this.deps.directory.get(this.ref);
    return found && isVm(found) && found.uid === this.uid ? found : undefined;
  }

  /** @throws DomainError INSTANCE_NOT_FOUND when it is gone, or when another VM has its name */
  expectVm(): VirtualMachine {
    const { vm } = this;
    if (vm) return vm;
    throw new DomainError('INSTANCE_NOT_FOUND', `${this.ref.name} was deleted during the move.`);
  }

  /** Waits, up to a limit, until the list shows the VM at the source stopped or gone. */
  whenStopped(timeoutMs: number): Promise<void> {
    return this.deps.directory.waitFor(this.ref, (vm) => !vm || (isVm(vm) && vm.status === 'Stopped'), timeoutMs);
  }

  /**
   * Reads a whole disk at both ends.
   * @returns the hash of its content
   * @throws DomainError BACKEND_FAILED if both ends differ
   */
  async compare(disk: string, signal: AbortSignal, report: (block: number) => void = () => undefined): Promise<string> {
    return compareDisks(this.sourceHashes(disk, signal), this.ingest.hashes(this.target, disk, signal), report);
  }

  private async *sourceHashes(disk: string, signal: AbortSignal): AsyncGenerator<string> {
    // Opened again after the copy, so that a change since then shows as well.
    yield* closeWhenRead(await this.source.open(this.ref, disk, signal), hashesOf);
  }
}
