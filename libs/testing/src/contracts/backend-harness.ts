import type { Backend, ImageOrigin, ImageRef, InstanceRef, VmSource } from '@headgate/domain-contracts';

/** An adapter under test and the engine behind it. Each contract suite opens its own. */
export interface BackendHarness {
  readonly backend: Backend;
  /** An unused name in a namespace that exists. */
  freshRef(): InstanceRef;
  /**
   * Creates a VM in the given state without using the adapter under test.
   * @param options.booted waits until its guest reacts to its power button
   */
  givenVm(state: 'Stopped' | 'Running' | 'Paused', options?: { booted?: boolean }): Promise<InstanceRef>;
  /** Creates a stopped VM with a disk that outlives its runs, where `givenVm` creates VMs without one. */
  givenVmWithDisk?(): Promise<InstanceRef>;
  /** Creates two networks that NICs can be attached to. Default: those of the backend in memory. */
  givenNetworks?(): Promise<readonly [string, string]>;
  /** Creates a second storage that disks can be moved to. Default: that of the backend in memory. */
  givenStorage?(): Promise<string>;
  /** Removes the disc that a new guest reads first from a stopped VM, on engines that can't save the memory of a guest before it was read. */
  removeSeed?(ref: InstanceRef): Promise<void>;
  /** Deletes a VM without using the adapter under test. */
  deleteExternally(ref: InstanceRef): Promise<void>;
  /** A source that the engine can create a VM from quickly. */
  quickSource(): Promise<VmSource>;
  /** An image that the engine can import quickly. Default: a URL. */
  imageOrigin?(): Promise<ImageOrigin>;
  /** Keeps the next import of the name from ending, on engines that fill images on their own. Returns the release. */
  holdImport?(ref: ImageRef): () => void;
  /** Opens a backend of the same kind whose engine does not answer. The suite closes it. */
  openUnreachable(): Promise<Backend>;
  /** The image for the containers of the suites. Default: `debian:12`. */
  readonly containerImage?: string;
  /** Called after each test: stops the guests that the test started, on engines where guests are expensive. */
  tidy?(): Promise<void>;
  /** Closes everything and deletes every instance that the suite created. */
  close(): Promise<void>;
}

export type OpenHarness = () => Promise<BackendHarness>;

export interface ContractOptions {
  /** Time limit of one test, for engines whose guests really boot. */
  readonly timeoutMs?: number;
}

/** A ref in the harness's namespace that names no instance. */
export const missingRef = (harness: BackendHarness): InstanceRef => harness.freshRef();

/** The same for a container. */
export const missingContainer = (harness: BackendHarness): InstanceRef => ({ ...harness.freshRef(), kind: 'ct' });
