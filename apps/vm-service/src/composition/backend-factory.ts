import type { Backend, Clock } from '@headgate/domain-contracts';
import type { Logger } from 'pino';
import type { CommandLine } from '../config/command-line.js';
import type { Settings } from '../config/load-config.js';
import type { ContextSection } from '../config/service-config.js';

/** A context to open. */
export interface BackendDeps {
  readonly section: ContextSection;
  readonly options: CommandLine;
  readonly settings: Settings;
  readonly clock: Clock;
  /** All backends of the service, once they are open. */
  readonly peers: () => readonly Backend[];
  /** Whether this process may change the engine at this moment. */
  readonly mayWrite: () => boolean;
  readonly log: Logger;
}

export interface OpenedBackend {
  readonly backend: Backend;
  /** Whether its guests are simulated. */
  readonly isSimulated?: boolean;
  /** Closes the engine behind the backend when this process runs it. Called after the backend was closed. */
  close?(): Promise<void>;
}

export type BackendFactory = (deps: BackendDeps) => Promise<OpenedBackend>;
