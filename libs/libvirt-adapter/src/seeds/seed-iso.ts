import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DomainError } from '@headgate/domain-contracts';
import { runProgram, type RunProgram } from '../programs/run-program.js';

/** Programs that write ISO images and accept the same arguments. */
const WRITERS = ['xorrisofs', 'genisoimage', 'mkisofs'] as const;

export interface Seed {
  readonly uuid: string;
  readonly hostname: string;
  /** cloud-init user data. A secret, passed in a file that only this user can read. */
  readonly userData?: string;
}

/** The installed ISO writer; undefined when there is none. */
export async function findDiscWriter(run: RunProgram = runProgram): Promise<string | undefined> {
  for (const program of WRITERS) {
    const { missing } = await run(program, ['--version'], { timeoutMs: 5000 });
    if (!missing) return program;
  }
  return undefined;
}

export const NO_DISC_WRITER = 'cloud-init data requires an ISO writer: install xorriso.';

/**
 * Writes the ISO image from which cloud-init configures a VM at its first boot.
 * Source: https://cloudinit.readthedocs.io/en/latest/reference/datasources/nocloud.html
 * @param folder a private folder
 * @returns the path of the image
 */
export async function writeSeedIso(
  { uuid, hostname, userData }: Seed,
  folder: string,
  run: RunProgram = runProgram,
): Promise<string> {
  const writer = await findDiscWriter(run);
  if (writer === undefined) throw new DomainError('NOT_SUPPORTED', NO_DISC_WRITER);
  const content = join(folder, 'seed');
  const iso = join(folder, 'seed.iso');
  await mkdir(content, { mode: 0o700 });
  await writeFile(join(content, 'meta-data'), `instance-id: ${uuid}\nlocal-hostname: ${hostname}\n`, { mode: 0o600 });
  await writeFile(join(content, 'user-data'), userData ?? '#cloud-config\n', { mode: 0o600 });
  // Owner and mode are irrelevant: the guest reads the image as root.
  const result = await run(
    writer,
    ['-quiet', '-output', iso, '-volid', 'cidata', '-joliet', '-rational-rock', content],
    { timeoutMs: 30_000 },
  );
  if (result.code !== 0)
    throw new DomainError(
      'BACKEND_FAILED',
      `${writer} could not write the cloud-init image (exit code ${result.code}).`,
      // Names folders of the service, which the answer to a client does not.
      { cause: new Error(result.stderr) },
    );
  return iso;
}
