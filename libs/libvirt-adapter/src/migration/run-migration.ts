import { DomainError } from '@headgate/domain-contracts';
import type { MigrationParameter, MigrationSession } from '../connection/migration-operations.js';

/** `virDomainMigrateFlags`. */
export const MigrationFlag = {
  live: 1,
  persistDestination: 8,
  undefineSource: 16,
  paused: 32,
  copyStorage: 64,
  changeProtection: 256,
  unsafe: 512,
  abortOnError: 4096,
  autoConverge: 8192,
  tls: 65536,
} as const;

export interface MigrationRun {
  readonly uuid: string;
  /** The domain's name. */
  readonly name: string;
  readonly source: MigrationSession;
  readonly destination: MigrationSession;
  readonly flags: number;
  /** The addresses at which the destination listens and to which the source connects. */
  readonly channel: readonly MigrationParameter[];
  readonly persistentXml: string;
  /** Changes the description of the running guest for the destination. */
  readonly relocate: (xml: string) => string;
  readonly signal: AbortSignal;
  /**
   * Whether the guest runs on the destination, asked when the connection broke in between; undefined if the destination
   * does not answer.
   */
  readonly hasArrived: () => Promise<boolean | undefined>;
}

/** It is not known on which host the guest runs. The source keeps it paused until the destination can be asked. */
export class UnknownOutcome extends DomainError {
  constructor(name: string, cause: unknown) {
    super(
      'BACKEND_UNREACHABLE',
      `The connection to the destination broke when ${name} had just been copied: it stays paused on the source until the destination can be asked whether it runs there.`,
      { cause },
    );
  }
}

/**
 * Directs one migration: each phase gets the cookie of the phase before, or none if that has failed. A failure is
 * announced to both sides, so that the guest continues on the source and the destination ends its QEMU. The first
 * failure is thrown: the answers to its announcement are its consequences. Source: virDomainMigrateVersion3Full in
 * https://gitlab.com/libvirt/libvirt/-/blob/v9.0.0/src/libvirt-domain.c
 */
export async function runMigration(run: MigrationRun): Promise<void> {
  const { uuid, source, flags } = run;
  const given: MigrationParameter[] = [{ field: 'persistent_xml', value: run.persistentXml }, ...run.channel];
  const begun = await source.begin(uuid, { params: given, flags });
  const { params, cookie, failure, isSourceWaiting } = await copyGuest(run, given, begun);
  if (isSourceWaiting) {
    const confirmation = source.confirm(uuid, { params, flags, cookie }, failure !== undefined);
    // Where the guest runs is decided: the settlement asks the source again.
    await confirmation.catch(() => undefined);
  }
  if (failure !== undefined) throw failure;
}

interface Copy {
  readonly params: readonly MigrationParameter[];
  readonly cookie: Buffer;
  readonly failure?: unknown;
  /** Whether the source waits for the outcome. It ends the migration itself if it could not copy the guest. */
  readonly isSourceWaiting: boolean;
}

const NO_COOKIE = Buffer.alloc(0);

/** @throws UnknownOutcome, after which the source must not be confirmed */
async function copyGuest(
  { uuid, name, source, destination, flags, relocate, signal, hasArrived }: MigrationRun,
  given: readonly MigrationParameter[],
  begun: { readonly cookie: Buffer; readonly xml: string },
): Promise<Copy> {
  const destinationFlags = flags & ~(MigrationFlag.abortOnError | MigrationFlag.autoConverge);
  let params: readonly MigrationParameter[] = given;
  let cookie = begun.cookie;
  try {
    signal.throwIfAborted();
    params = [...given, { field: 'destination_xml', value: relocate(begun.xml) }];
    const prepared = await destination.prepare({ params, flags: destinationFlags, cookie });
    cookie = prepared.cookie;
    if (prepared.uri !== null)
      params = [...without(params, 'migrate_uri'), { field: 'migrate_uri', value: prepared.uri }];
  } catch (failure) {
    return { params, cookie: NO_COOKIE, failure, isSourceWaiting: true };
  }
  let failure: unknown;
  let isSourceWaiting = true;
  try {
    signal.throwIfAborted();
    isSourceWaiting = false;
    cookie = await source.perform(uuid, { params, flags, cookie });
    isSourceWaiting = true;
  } catch (error) {
    failure = error;
    cookie = NO_COOKIE;
  }
  const named = [...params, { field: 'destination_name', value: name }];
  try {
    cookie = await destination.finish({ params: named, flags: destinationFlags, cookie }, failure !== undefined);
  } catch (error) {
    cookie = NO_COOKIE;
    // A canceled migration always ends with an error here.
    if (failure === undefined && isDisconnected(error)) {
      const arrived = await hasArrived();
      if (arrived === undefined) throw new UnknownOutcome(name, error);
      if (arrived) return { params, cookie, isSourceWaiting };
    }
    failure ??= error;
  }
  return { params, cookie, isSourceWaiting, ...(failure !== undefined && { failure }) };
}

const without = (params: readonly MigrationParameter[], field: string): MigrationParameter[] =>
  params.filter((one) => one.field !== field);

const isDisconnected = (error: unknown): boolean =>
  DomainError.is(error, 'BACKEND_UNREACHABLE', 'BACKEND_TIMEOUT', 'BACKEND_FORBIDDEN');
