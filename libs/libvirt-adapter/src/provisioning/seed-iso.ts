import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DomainError } from '@headgate/domain-contracts';
import { runProgram, type RunProgram } from '../virsh/run-program.js';

/** Programs that write a disc and take the same arguments. */
const WRITERS = ['xorrisofs', 'genisoimage', 'mkisofs'] as const;

export interface Seed {
  readonly uuid: string;
  readonly hostname: string;
  /** cloud-init user data. A secret: it travels in a file that only this user can read. */
  readonly userData?: string;
}

/** The program that writes discs here; undefined when there is none. */
export async function findDiscWriter(run: RunProgram = runProgram): Promise<string | undefined> {
  for (const program of WRITERS) {
    const { missing } = await run(program, ['--version'], { timeoutMs: 5000 });
    if (!missing) return program;
  }
  return undefined;
}

export const NO_DISC_WRITER = 'cloud-init data needs a program that writes discs: install xorriso.';

/**
 * Writes the disc from which cloud-init reads a machine's first settings.
 * Source: https://cloudinit.readthedocs.io/en/latest/reference/datasources/nocloud.html
 * @param folder a private folder
 * @returns the disc's path
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
  // The disc's owner and modes don't matter to the guest's root, which reads it.
  const result = await run(
    writer,
    ['-quiet', '-output', iso, '-volid', 'cidata', '-joliet', '-rational-rock', content],
    { timeoutMs: 30_000 },
  );
  if (result.code !== 0)
    throw new DomainError('BACKEND_FAILED', `${writer} could not write the cloud-init disc (code ${result.code}).`);
  return iso;
}
