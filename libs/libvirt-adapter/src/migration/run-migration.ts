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
} as const;

export interface MigrationRun {
  readonly uuid: string;
  /** The domain's name. */
  readonly name: string;
  readonly source: MigrationSession;
  readonly destination: MigrationSession;
  readonly flags: number;
  /** The address that the source connects to; libvirt on the destination chooses if it is absent. */
  readonly uri?: string;
  readonly persistentXml: string;
  /** Changes the description of the running guest for the destination. */
  readonly relocate: (xml: string) => string;
  readonly signal: AbortSignal;
  /** Whether the guest runs on the destination, asked when the connection broke in between; undefined if the destination does not answer. */
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
 * Directs one migration: each phase gets the cookie of the phase before. A failure of any phase is announced to both sides, so that the guest
 * continues on the source and the destination ends its QEMU.
 * Source: virDomainMigrateVersion3Full in https://gitlab.com/libvirt/libvirt/-/blob/v9.0.0/src/libvirt-domain.c
 */
export async function runMigration(run: MigrationRun): Promise<void> {
  const { uuid, source, flags } = run;
  const given: MigrationParameter[] = [
    { field: 'persistent_xml', value: run.persistentXml },
    ...(run.uri === undefined ? [] : [{ field: 'migrate_uri', value: run.uri }]),
  ];
  const begun = await source.begin(uuid, { params: given, flags });
  const copy = await copyGuest(run, given, begun);
  await source.confirm(uuid, { params: copy.params, flags, cookie: copy.cookie }, copy.failure !== undefined);
  if (copy.failure !== undefined) throw copy.failure;
}

interface Copy {
  readonly params: readonly MigrationParameter[];
  readonly cookie: Buffer;
  readonly failure?: unknown;
}

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
    return { params, cookie, failure };
  }
  let failure: unknown;
  try {
    signal.throwIfAborted();
    cookie = await source.perform(uuid, { params, flags, cookie });
  } catch (error) {
    failure = error;
  }
  const named = [...params, { field: 'destination_name', value: name }];
  try {
    cookie = await destination.finish({ params: named, flags: destinationFlags, cookie }, failure !== undefined);
  } catch (error) {
    // A canceled migration always ends with an error here.
    if (failure === undefined && isDisconnected(error)) {
      const arrived = await hasArrived();
      if (arrived === undefined) throw new UnknownOutcome(name, error);
      if (arrived) return { params, cookie };
    }
    failure ??= error;
  }
  return { params, cookie, ...(failure !== undefined && { failure }) };
}

const without = (params: readonly MigrationParameter[], field: string): MigrationParameter[] =>
  params.filter((one) => one.field !== field);

const isDisconnected = (error: unknown): boolean =>
  DomainError.is(error, 'BACKEND_UNREACHABLE', 'BACKEND_TIMEOUT', 'BACKEND_FORBIDDEN');
