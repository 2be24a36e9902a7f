import type { Readable } from 'node:stream';
import type { Loss } from '../model/loss.js';
import type { Plan } from '../model/plan.js';
import type { ContainerReading, PortableContainer } from '../model/portable-container.js';
import type { ResourceMapping } from '../model/portable-vm.js';
import type { InstanceRef } from '../values/instance-ref.js';
import type { IngestState } from './disk-ingest.port.js';

/** A container at one end of a transfer. */
export interface TransferEnd {
  /** A UUID that identifies this attempt, so that its traces can be found again after a restart. */
  readonly id: string;
  readonly ref: InstanceRef;
}

/** A container that is being received. */
export interface TransferSpec extends TransferEnd {
  readonly container: PortableContainer;
  readonly mapping: ResourceMapping;
}

/** A file system of a container. */
export interface TransferPart {
  /** A name of the description. */
  readonly part: string;
  readonly signal: AbortSignal;
}

export interface TransferPlan extends Plan {
  /** Properties of the container that it will not have here. */
  readonly losses: readonly Loss[];
  /** How many bytes fit; absent when that is unknown. */
  readonly availableBytes?: number;
}

/**
 * Reads and receives whole containers as archives. A copy that is not committed is removed by `discard` without a
 * trace; one that was committed is never removed. Nothing of the source changes.
 */
export abstract class ContainerTransfer {
  /**
   * Whether this backend can receive containers now.
   * @throws DomainError NOT_SUPPORTED with the reason, BACKEND_UNREACHABLE
   */
  abstract check(): Promise<void>;

  /**
   * The container without its content, whether it runs or not. Changes nothing.
   * @throws DomainError INSTANCE_NOT_FOUND, BACKEND_UNREACHABLE
   */
  abstract describe(ref: InstanceRef): Promise<ContainerReading>;

  /**
   * The archive of a part of a stopped container, read only as fast as the stream is. Destroying the stream frees
   * everything that was created for it.
   * @throws DomainError INSTANCE_NOT_FOUND, WRONG_STATE when it is not stopped, INSUFFICIENT_STORAGE when the archive
   *   does not fit at the source
   */
  abstract open(source: TransferEnd, part: TransferPart): Promise<Readable>;

  /**
   * The hash of the content of a part: the names, the owners, the permissions and the bytes of all files. Equal at both
   * ends for equal content, also on different engines.
   * @throws DomainError like `open`
   */
  abstract fingerprint(end: TransferEnd, part: TransferPart): Promise<string>;

  /**
   * Changes nothing. The plan contains every refusal that the backend can foresee.
   * @throws DomainError BACKEND_UNREACHABLE
   */
  abstract plan(spec: TransferSpec): Promise<TransferPlan>;

  /**
   * Creates a part from an archive, and replaces what an interrupted attempt with the same ID has left. Does nothing
   * else about other containers and volumes, whatever their names are.
   * @throws DomainError ALREADY_EXISTS when the name was taken meanwhile, INSUFFICIENT_STORAGE, REJECTED_BY_BACKEND
   */
  abstract receive(spec: TransferSpec, part: TransferPart, archive: Readable): Promise<void>;

  /** Turns it into a stopped container like any other. No error if it is one already. */
  abstract commit(target: TransferEnd): Promise<void>;

  /**
   * Removes an incomplete copy with its parts. No error if there is none.
   * @throws DomainError WRONG_STATE after `commit`
   */
  abstract discard(target: TransferEnd): Promise<void>;

  abstract state(target: TransferEnd): Promise<IngestState>;

  /** Removes archives that an interrupted attempt has left at the source. */
  abstract release(source: TransferEnd): Promise<void>;
}
