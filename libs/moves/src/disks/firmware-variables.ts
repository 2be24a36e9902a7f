import { createHash } from 'node:crypto';
import { DomainError, formatBytes } from '@headgate/domain-contracts';
import type { ContentEnds } from './copy-content.js';

/** Copies the variables of a stopped VM. @returns a line for the log */
export async function copyFirmwareVariables({ source, ref, ingest, target }: ContentEnds): Promise<string> {
  const content = await source.readFirmwareVariables(ref);
  await ingest.writeFirmwareVariables(target, content);
  return `The variables of the firmware (${formatBytes(content.length)}) were copied.`;
}

/** @returns their hash @throws DomainError BACKEND_FAILED if both ends differ */
export async function compareFirmwareVariables(ends: ContentEnds): Promise<string> {
  const expected = await hashVariables(ends);
  if (hashOf(await ends.ingest.readFirmwareVariables(ends.target)) !== expected)
    throw new DomainError(
      'BACKEND_FAILED',
      'The variables of the firmware of the copy differ from those of the source.',
    );
  return expected;
}

/** The hash of the variables of the source. */
export const hashVariables = async ({ source, ref }: ContentEnds): Promise<string> =>
  hashOf(await source.readFirmwareVariables(ref));

const hashOf = (content: Buffer): string => createHash('sha256').update(content).digest('hex');
