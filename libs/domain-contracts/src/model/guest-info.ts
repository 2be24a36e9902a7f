import { plainValue } from '../values/plain-text.js';

/** What the guest agent reports about its operating system. Fields are empty where the agent does not know them. */
export interface GuestOs {
  readonly hostname: string;
  /** As in `/etc/os-release`: `debian`, `mswindows`. */
  readonly id: string;
  readonly name: string;
  readonly prettyName: string;
  readonly version: string;
  /** The release of the kernel, such as `6.1.0-37-cloud-amd64`. */
  readonly kernel: string;
}

/** A user who is logged in. */
export interface GuestUser {
  readonly name: string;
  /** ISO 8601; null when the agent does not know it. */
  readonly loginTime: string | null;
}

/** A mounted file system. */
export interface GuestFilesystem {
  /** The device in the guest, such as `vda1`. */
  readonly disk: string;
  readonly mountPoint: string;
  readonly type: string;
  readonly usedBytes: number | null;
  readonly totalBytes: number | null;
}

export interface GuestInfo {
  readonly os: GuestOs;
  readonly users: readonly GuestUser[];
  readonly filesystems: readonly GuestFilesystem[];
}

const MAX_TEXT_CHARS = 256;
const MAX_ENTRIES = 100;
/** The last second of the year 9999. */
const MAX_EPOCH_MS = 253_402_300_799_000;

/** The values of an agent before they are checked: any field may be missing or have any type. */
export interface ReportedGuest {
  readonly os: Readonly<Partial<Record<keyof GuestOs, unknown>>>;
  readonly users: Iterable<{ readonly name?: unknown; readonly loginMs?: unknown }>;
  readonly filesystems: Iterable<Readonly<Partial<Record<keyof GuestFilesystem, unknown>>>>;
}

/**
 * Turns the values of an agent, which may be hostile because the guest controls it, into bounded plain data: short
 * texts of printable characters, plausible numbers and times, and at most 100 entries of a list.
 */
export function toGuestInfo({ os, users, filesystems }: ReportedGuest): GuestInfo {
  return {
    os: {
      hostname: guestText(os.hostname),
      id: guestText(os.id),
      name: guestText(os.name),
      prettyName: guestText(os.prettyName),
      version: guestText(os.version),
      kernel: guestText(os.kernel),
    },
    users: firstOf(users).map(({ name, loginMs }) => ({ name: guestText(name), loginTime: guestTime(loginMs) })),
    filesystems: firstOf(filesystems).map(({ disk, mountPoint, type, usedBytes, totalBytes }) => ({
      disk: guestText(disk),
      mountPoint: guestText(mountPoint),
      type: guestText(type),
      usedBytes: guestBytes(usedBytes),
      totalBytes: guestBytes(totalBytes),
    })),
  };
}

/** A text from a guest without characters that could deceive a reader or control a terminal. */
export const guestText = (value: unknown, maxChars = MAX_TEXT_CHARS): string =>
  typeof value === 'string' ? plainValue(value, maxChars) : '';

const guestBytes = (value: unknown): number | null =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null;

const guestTime = (value: unknown): string | null =>
  typeof value === 'number' && value >= 0 && value <= MAX_EPOCH_MS ? new Date(value).toISOString() : null;

function firstOf<T>(entries: Iterable<T>): T[] {
  const first: T[] = [];
  for (const entry of entries) {
    if (first.length >= MAX_ENTRIES) break;
    if (typeof entry === 'object' && entry !== null) first.push(entry);
  }
  return first;
}
