import type { Container, PersistentVolumeClaim, Pod } from '../types/core-kinds.js';

/** What a container of a Job prints, how it ends, and what it writes. */
export interface SimulatedProgram {
  readonly lines: readonly string[];
  readonly exitCode: number;
  /** Of the termination. Default: `Completed` or `Error`. */
  readonly reason?: string;
  readonly message?: string;
  /** The first bytes of a claim, written when it ends without an error. */
  readonly disk?: { readonly claim: PersistentVolumeClaim; readonly content: Buffer };
}

/** Replaces the simulated program of a container; undefined keeps it. */
export type ProgramChooser = (pod: Pod, container: Container) => SimulatedProgram | undefined;
