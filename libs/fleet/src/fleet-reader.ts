import { InstanceDirectory, type InstanceKind } from '@headgate/domain-contracts';
import type { ContextState, FleetEntry, FleetListener } from './fleet-entry.js';

/** The serialized list of one kind. */
export interface FleetList {
  /** A JSON array, in one or more pieces. Shared between readers: do not write to it. */
  readonly json: readonly Buffer[];
  /** The same array in pages. An unchanged page is the same object in each list. */
  readonly pages: readonly Buffer[];
  /** Changes whenever the bytes do. */
  readonly version: number;
  /** Whether a context is lost, so that some entries may be stale or missing. */
  readonly partial: boolean;
}

/** Read access to the live instances of every context. Never asks a backend. */
export abstract class FleetReader extends InstanceDirectory {
  /** The state of each context, in the order in which they were attached. */
  abstract states(): ContextState[];

  /** Resolves when every context was listed or found to be lost. */
  abstract whenSynced(): Promise<void>;

  /** @throws DomainError BACKEND_UNREACHABLE when no context can be reached */
  abstract expectSomeContext(): void;

  /** @throws DomainError BACKEND_UNREACHABLE when no context can be reached */
  abstract list(kind: InstanceKind): FleetList;

  /** The pages of `list`, also while no context can be reached. */
  abstract snapshot(kind: InstanceKind): readonly Buffer[];

  /** All entries of a kind, in the order of the list. */
  abstract all(kind: InstanceKind): Iterable<FleetEntry>;

  abstract count(kind: InstanceKind): number;

  /** Calls the listener on each change until the returned function is called. */
  abstract subscribe(listener: FleetListener): () => void;
}
