import { ClientError } from '../client/client-error.js';
import { EXIT_CODES } from '../exit-codes.js';
import type { Session } from '../session.js';
import { printable } from '../terminal/printable.js';
import type { AddCommands } from './command-context.js';

interface Flags {
  readonly key?: string;
  readonly picture?: string;
}

const MAX_BYTES = 64 * 1024 ** 2;

/** proof verify. */
export const addProofCommands: AddCommands = (program, act) => {
  program
    .command('proof')
    .summary('verify certificates of backups that have booted')
    .command('verify')
    .summary('verify a certificate without the service')
    .description(
      'Verifies the certificate of a boot without the service. The exit code is 1 if it was changed, is signed with another key, or says that the backup has not booted.',
    )
    .argument('<file>', 'the certificate, as JSON')
    .option('--key <file>', 'the public key of the service, as GET /api/ext/backups/proof-key returns it, or as PEM')
    .option('--picture <file>', 'the picture that belongs to the certificate, as PNG')
    .action(act(verify));
};

async function verify({ output }: Session, file: string, { key, picture }: Flags): Promise<void> {
  const { verifyProof } = await import('@headgate/api-contracts/verify-proof');
  const trusted = key === undefined ? undefined : keyOf(await read(key));
  const verdict = await verifyProof(parse(file, await read(file)), trusted);
  if (!verdict.isValid) throw invalid(verdict.reason);
  const { certificate } = verdict;
  if (picture !== undefined) await expectPicture(await read(picture), certificate.picture?.sha256);
  const { outcome, ref, point, endedAt, reason, verified } = certificate;
  await output.value({ ...verdict, isKeyTrusted: trusted !== undefined }, () => {
    const lines = [
      `Certificate: valid${trusted === undefined ? ', but its key was not compared: use --key' : ''}`,
      `Backup:      ${ref} of ${point.time}, ${point.id}`,
      `Outcome:     ${outcome}${reason === undefined ? '' : `: ${reason}`}, ${endedAt}`,
      `Verified:    ${verified === 'all' ? 'all of the disks' : 'the parts that the guest has read'}`,
      `Key:         ${verdict.key}`,
    ];
    return lines.map((line) => `${printable(line)}\n`).join('');
  });
  if (outcome !== 'booted') throw new ClientError('NOT_BOOTED', 'The backup has not booted.', EXIT_CODES.failed);
}

async function read(file: string): Promise<Buffer> {
  const { readFile, stat } = await import('node:fs/promises');
  try {
    if ((await stat(file)).size > MAX_BYTES) throw new Error('it is too large');
    return await readFile(file);
  } catch (error) {
    throw ClientError.usage(`${file} can't be read: ${(error as Error).message}.`);
  }
}

function parse(file: string, content: Buffer): unknown {
  try {
    return JSON.parse(content.toString('utf8')) as unknown;
  } catch {
    throw ClientError.usage(`${file} is no JSON.`);
  }
}

/** @param content the answer of the route, PEM, or base64 */
function keyOf(content: Buffer): string {
  const text = content.toString('utf8').trim();
  if (!text.startsWith('{')) return text;
  const { key } = parse('The key', content) as { readonly key?: unknown };
  if (typeof key !== 'string') throw ClientError.usage('The key has no field "key".');
  return key;
}

async function expectPicture(picture: Buffer, sha256: string | undefined): Promise<void> {
  const { createHash } = await import('node:crypto');
  if (createHash('sha256').update(picture).digest('hex') !== sha256)
    throw invalid('The picture is not the one of the certificate.');
}

const invalid = (reason: string): ClientError => new ClientError('INVALID_PROOF', reason, EXIT_CODES.failed);
