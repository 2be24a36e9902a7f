import type { Clock } from '@headgate/clock';
import type { BackendTraits } from '../model/backend-traits.js';
import type { AuditEntry } from './audit-log.port.js';
import type { Backend } from './backend.port.js';
import type { ConsoleStream } from './console-source.port.js';
import type { DiagnosticCheck } from './diagnostics.port.js';
import type { FolderAssignment } from './folder-store.port.js';
import type { Log } from './log.port.js';
import type { PastUsage } from './past-usage.port.js';
import { definedFields } from '../values/defined-fields.js';

/**
 * An engine that this service can manage, as its adapter exports it: the only import from an adapter that the
 * composition of the service needs. `S` is the class of its settings.
 */
export interface BackendKind<S extends object = object> {
  readonly traits: BackendTraits;
  /**
   * The keys that a context of this kind may have in the configuration besides `name` and `kind`, with the decorators
   * of class-validator. Keys that it does not have are refused.
   */
  readonly settings: new () => S;
  /**
   * Does no I/O and does not fail when the engine is unreachable: its inventory reports that.
   * @throws SettingError
   */
  open(deps: BackendDeps<S>): Promise<OpenedBackend>;

  /**
   * Looks for an engine that this machine can use, for a service without configured contexts. Changes nothing, and does
   * not fail. Absent: engines of this kind have to be configured.
   */
  discover?(): Promise<DiscoveredEngine<S> | undefined>;

  /** The settings as administrators may read them, without a secret. Absent: none are shown. */
  describe?(settings: Readonly<S>): ShownSettings;

  /** How contexts of this kind are added while the service runs. Absent: they have to be configured. */
  readonly added?: AddedKind;
}

/** Names and values, such as `server` and `https://cluster.example:6443`. */
export type ShownSettings = Readonly<Record<string, string>>;

/**
 * The contexts of a kind that administrators add over the API. A request is less trusted than the configuration file:
 * its settings can't make the service run a program, and it names each host and each file that it leads to, so that the
 * service can refuse them. `S` is the class of the settings.
 */
export interface AddedKind<S extends object = object> {
  /** The keys that a request may have, with the decorators of class-validator. Other keys are refused. */
  readonly settings: new () => S;
  /**
   * The settings as they are kept, without anything that is not needed. Does no I/O.
   * @throws SettingError for settings that would make the service read other files or run programs
   */
  reduce(context: string, settings: Readonly<S>): Readonly<S>;
  /**
   * The settings of a context after a change, to be checked and reduced like those of a new one. Does no I/O. A secret
   * that the change does not give is kept, but never for another place: a caller who can't read it could send it to a
   * server of theirs.
   * @param before the reduced settings that are kept now
   * @param change values as they were received, unchecked; `null` removes a key
   * @throws SettingError for a secret that must be given again
   */
  merge(context: string, before: Readonly<S>, change: SettingsChange): Readonly<Record<string, unknown>>;
  /**
   * The engine, or the part of it, to which reduced settings lead, without credentials. A context whose settings have
   * another one after a change lists other instances.
   */
  engineOf(settings: Readonly<S>): string;
  /**
   * The settings after the first connection, without secrets that the other side accepts only once. Absent: there are
   * none.
   */
  withoutUsedSecrets?(settings: Readonly<S>): Readonly<S>;
  /**
   * The file of `dataDir` with which the service identifies itself to the other side. The test of a change has a copy
   * of it. Absent: there is none.
   */
  identityFile?(context: string): string;
  /** Where reduced settings lead to. */
  targets(settings: Readonly<S>): readonly ContextTarget[];
  /** Files and sockets that contexts of this kind may always name. */
  readonly usualPaths: readonly string[];
  /** The reduced settings as administrators may read them, without a secret. */
  describe(settings: Readonly<S>): ShownSettings;
  /** Like `open` of the kind, with reduced settings. @throws SettingError */
  open(deps: BackendDeps<S>): Promise<OpenedBackend>;
  /**
   * Checks settings whose use would change something on the other side, in place of the checks of the opened backend.
   * @returns undefined for all other settings
   */
  probe?(deps: BackendDeps<S>): Promise<readonly DiagnosticCheck[] | undefined>;
}

/** New values of settings by their keys. `null` removes a key, and others are kept. */
export type SettingsChange = Readonly<Record<string, unknown>>;

/** The kept settings with the new values of a change, without removed keys. */
export function mergeSettings(before: Readonly<object>, change: SettingsChange): Record<string, unknown> {
  const merged = Object.entries({ ...definedFields(before), ...definedFields(change) });
  return Object.fromEntries(merged.filter(([, value]) => value !== null));
}

/** A host with a port, or a file or socket of this machine. */
export type ContextTarget = { readonly host: string; readonly port: number } | { readonly path: string };

/** An engine that was found without a configuration. */
export interface DiscoveredEngine<S extends object = object> {
  /** The name for its context. */
  readonly context: string;
  readonly settings?: S;
  /** Names the engine to the user: `a cluster: the context lab of your kubeconfig`. */
  readonly description: string;
}

/** The context to open, and what the service offers to it. */
export interface BackendDeps<S extends object = object> {
  /** The operator's name for it. */
  readonly context: string;
  readonly settings: Readonly<S>;
  /** A folder for files of the backend. It need not exist. */
  readonly dataDir: string;
  readonly clock: Clock;
  readonly log: Log;
  /** All backends of the service, once they are open. */
  readonly peers: () => readonly Backend[];
  /** Whether this process may change the engine at this moment. */
  readonly mayWrite: () => boolean;
  /** Exceptions from the ranges to which downloads may not connect: addresses, ranges and host names. */
  readonly importAllow: readonly string[];
  /** Takes a picture of a screen, as PNG, over a session of RFB that it opens. Absent: there are no pictures. */
  readonly takePicture?: (open: () => Promise<ConsoleStream>) => Promise<Buffer>;
  /** The path of the disk image that was built on this machine; absent when there is none. */
  readonly tinyGuest?: string;
  /** The folder of the guest that reads the files of disks; absent where there is none. */
  readonly readerGuest?: string;
  /** How guests on this machine run; absent when the backend has to find out. */
  readonly accelerator?: 'kvm' | 'tcg';
}

export interface OpenedBackend {
  readonly backend: Backend;
  /** Whether its guests are simulated. */
  readonly isSimulated?: boolean;
  /** The folders of its simulated instances. They exist while the service runs. */
  readonly folders?: readonly FolderAssignment[];
  /**
   * The invented past of its simulated instances, the oldest entry first. It is in the journal while the service runs.
   */
  readonly past?: readonly AuditEntry[];
  /** The invented usage of its simulated instances in that past. */
  readonly pastUsage?: PastUsage;
  /** Closes the engine behind the backend when this process runs it. Called after the backend was closed. */
  close?(): Promise<void>;
}

/** A setting that is valid but can't be used, such as the name of a file that can't be read. */
export class SettingError extends Error {
  override readonly name = 'SettingError';

  /**
   * @param source the file, or the context
   * @param problem begins with the name of the setting
   */
  constructor(
    readonly source: string,
    readonly problem: string,
    options?: ErrorOptions,
  ) {
    super(`${source}: ${problem}`, options);
  }
}
