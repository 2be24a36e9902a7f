import { plainValue } from '@headgate/domain-contracts';
import type { GuestOsInfo } from '../api/object-types.js';

const MAX_OS_CHARS = 64;

/**
 * The operating system that the agent of a guest reports, without its code name: `Debian 12` of
 * `Debian GNU/Linux 12 (bookworm)`. The guest can report any text.
 */
export function reportedOs(info: GuestOsInfo | undefined): string | undefined {
  const { prettyName, name, versionId, version } = info ?? {};
  const reported = prettyName || [name, versionId || version].filter(Boolean).join(' ');
  const short = plainValue(reported, MAX_OS_CHARS)
    .replace(/\s*\([^()]*\)\s*$/, '')
    .replace(/ GNU\/Linux\b/, '')
    .trim();
  return short === '' ? undefined : short;
}

/** The operating system that was recorded when the VM was created; other programs can write there, too. */
export const recordedOs = (text: string | undefined): string | undefined =>
  text === undefined ? undefined : plainValue(text, MAX_OS_CHARS) || undefined;
