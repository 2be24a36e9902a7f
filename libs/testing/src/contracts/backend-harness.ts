import type { Backend, ImageOrigin, ImageRef, InstanceRef, VmSource } from '@headgate/domain-contracts';

/** An adapter under test and the engine behind it. Each contract suite opens its own. */
export interface BackendHarness {
  readonly backend: Backend;
  /** An unused name in a namespace that exists. */
  freshRef(): InstanceRef;
  /**
   * Creates a VM in the given state without using the adapter under test.
   * @param options.booted with a guest that has an agent and reacts to its power button; waits until it has booted.
   *   Other VMs may have
   * no operating system.
   */
  givenVm(state: 'Stopped' | 'Running' | 'Paused', options?: { booted?: boolean }): Promise<InstanceRef>;
  /** Creates a stopped VM with a disk that outlives its runs, where `givenVm` creates VMs without one. */
  givenVmWithDisk?(): Promise<InstanceRef>;
  /** Creates two networks that NICs can be attached to. Default: those of the backend in memory. */
  givenNetworks?(): Promise<readonly [string, string]>;
  /** Creates a second storage that disks can be moved to. Default: that of the backend in memory. */
  givenStorage?(): Promise<string>;
  /** The storage that has the boot disk of a VM; undefined without a disk. Only for engines that have real ones. */
  storageOf?(ref: InstanceRef): Promise<string | undefined>;
  /**
   * Removes the disc that a new guest reads first from a stopped VM, on engines that can't save the memory of a guest
   * before it was read.
   */
  removeSeed?(ref: InstanceRef): Promise<void>;
  /**
   * Fills a part of the boot disk of a VM that runs with one byte, as its guest would. Only for engines that read such
   * disks.
   */
  writeAsGuest?(
    ref: InstanceRef,
    part: { readonly offset: number; readonly length: number; readonly byte: number },
  ): Promise<void>;
  /**
   * A VM that runs, with a program in it that sends back what it receives. Absent where the guests of the suites have
   * no network that the adapter reaches.
   */
  givenEcho?(): Promise<{ readonly ref: InstanceRef; readonly port: number; readonly closedPort: number }>;
  /** Deletes a VM without using the adapter under test. */
  deleteExternally(ref: InstanceRef): Promise<void>;
  /**
   * Size of the boot disks of VMs that the suites create. Small where they have content, because the suites read whole
   * disks. Default: 1 GiB.
   */
  readonly diskBytes?: number;
  /** A source that the engine can create a VM from quickly. */
  quickSource(): Promise<VmSource>;
  /** A source of VMs with a disk that outlives their runs, where `quickSource` creates VMs without one. */
  diskSource?(): Promise<VmSource>;
  /**
   * Waits until the firmware of a VM from `quickSource` no longer uses its disk, on engines where that takes time.
   * @param starts how often the VM was started. Default: once
   */
  untilIdle?(ref: InstanceRef, starts?: number): Promise<void>;
  /** Waits until the use of a VM that runs is known, on engines that measure at intervals. */
  untilMeasured?(ref: InstanceRef): Promise<void>;
  /** An image that the engine can import quickly. Default: a URL. */
  imageOrigin?(): Promise<ImageOrigin>;
  /** Keeps the next import of the name from ending, on engines that fill images on their own. Returns the release. */
  holdImport?(ref: ImageRef): () => void;
  /** Opens a backend of the same kind whose engine does not answer. The suite closes it. */
  openUnreachable(): Promise<Backend>;
  /** The image for the containers of the suites. Default: `debian:12`. */
  readonly containerImage?: string;
  /** An image that writes a line when it starts, and goes on. Default: `containerImage`. */
  readonly logImage?: string;
  /** Called after each test: stops the guests that the test started, on engines where guests are expensive. */
  tidy?(): Promise<void>;
  /** Closes everything and deletes every instance that the suite created. */
  close(): Promise<void>;
}

export type OpenHarness = () => Promise<BackendHarness>;

export interface ContractOptions {
  /** Time limit of one test. Default: 30 s, which only a test that hangs reaches. More for guests that really boot. */
  readonly timeoutMs?: number;
}

/** A ref in the harness's namespace that names no instance. */
export const missingRef = (harness: BackendHarness): InstanceRef => harness.freshRef();

/** The same for a container. */
export const missingContainer = (harness: BackendHarness): InstanceRef => ({ ...harness.freshRef(), kind: 'ct' });
