import type { Backend, InstanceRef, VmSource } from '@headgate/domain-contracts';

/** What a port's contract suite needs of an adapter under test and the engine behind it. One is opened for each suite. */
export interface BackendHarness {
  readonly backend: Backend;
  /** A name that nobody uses, in a namespace that is there. */
  freshRef(): InstanceRef;
  /**
   * Makes a VM in that state behind the adapter's back.
   * @param options.booted waits until its guest heeds its power button
   */
  givenVm(state: 'Stopped' | 'Running' | 'Paused', options?: { booted?: boolean }): Promise<InstanceRef>;
  /** Removes a VM behind the adapter's back. */
  deleteExternally(ref: InstanceRef): Promise<void>;
  /** A source that the engine can create from quickly. */
  quickSource(): Promise<VmSource>;
  /** Called after each test: ends the guests that it started, where they cost something. */
  tidy?(): Promise<void>;
  /** Ends everything, and removes every VM that the suite made. */
  close(): Promise<void>;
}

export type OpenHarness = () => Promise<BackendHarness>;

export interface ContractOptions {
  /** Milliseconds that one test may take; for engines whose guests really boot. */
  readonly timeoutMs?: number;
}

/** A ref of the harness's namespace that names nothing. */
export const missingRef = (harness: BackendHarness): InstanceRef => harness.freshRef();
