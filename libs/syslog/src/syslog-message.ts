import type { ChainedJournalEntry } from '@headgate/domain-contracts';

/** Facilities by name. Source: RFC 5424, 6.2.1. */
export const FACILITIES = {
  user: 1,
  daemon: 3,
  auth: 4,
  authpriv: 10,
  audit: 13,
  local0: 16,
  local1: 17,
  local2: 18,
  local3: 19,
  local4: 20,
  local5: 21,
  local6: 22,
  local7: 23,
} as const;
export type Facility = keyof typeof FACILITIES;

const SEVERITIES = { warning: 4, notice: 5, informational: 6 } as const;

/** Who sends the messages. */
export interface SyslogSender {
  readonly facility: Facility;
  /** HOSTNAME of the messages. */
  readonly hostname: string;
  readonly processId: number;
}

/**
 * An ID of structured data that is not registered has a private enterprise number. Source: RFC 5424, 6.3.2; 32473 is
 * the one for documentation and examples (RFC 5612), as this project has none.
 */
const SD_ID = 'headgate@32473';
/** What every receiver has to accept over UDP and should over TCP. Source: RFC 5424, 6.1. */
export const MAX_MESSAGE_BYTES = 2048;
/** Escapes may double it: four values of users and the rest fit into a message, and leave room for its text. */
const MAX_VALUE_BYTES = 160;
const MAX_TEXT_BYTES = 512;
const APP_NAME = 'headgate';
const BOM = '\uFEFF';

/**
 * An entry of the journal as a message of RFC 5424. Everything that a user or a guest has written is cut, has no
 * control characters, and is in quotes, so that it can begin neither another line nor another parameter.
 */
export function entryMessage(sender: SyslogSender, { links, ...entry }: ChainedJournalEntry): string {
  const { number, time, caller, token, address, kind, action, route, ref, outcome, status, code, message } = entry;
  const severity = outcome === 'ok' ? 'informational' : outcome === 'error' ? 'notice' : 'warning';
  return build(sender, {
    severity,
    time,
    id: kind === 'request' ? 'request' : 'action',
    values: {
      number: String(number),
      caller,
      token,
      address,
      action,
      route: route === action ? '' : route,
      ref,
      outcome,
      status: status === null ? '' : String(status),
      code,
      hash: links?.hash ?? '',
    },
    text: `${caller || 'unknown'} ${action} ${ref} ${outcome}${message === '' ? '' : `: ${message}`}`,
  });
}

/** Entries that are not sent, among those with numbers after `after` and through `through`. */
export interface LostEntries {
  readonly after: number;
  readonly through: number;
  readonly lost: number;
}

/** Reports entries that the server did not get. @param time ISO 8601 */
export const lossMessage = (sender: SyslogSender, time: string, { after, through, lost }: LostEntries): string =>
  build(sender, {
    severity: 'warning',
    time,
    id: 'lost',
    values: { after: String(after), through: String(through), lost: String(lost) },
    text: `${lost} entries of the journal, after ${after} and through ${through}, were not sent.`,
  });

interface Parts {
  readonly severity: keyof typeof SEVERITIES;
  readonly time: string;
  /** MSGID. */
  readonly id: string;
  /** Parameters of the structured data. Empty ones are left out. */
  readonly values: Readonly<Record<string, string>>;
  readonly text: string;
}

function build({ facility, hostname, processId }: SyslogSender, { severity, time, id, values, text }: Parts): string {
  const priority = FACILITIES[facility] * 8 + SEVERITIES[severity];
  const header = `<${priority}>1 ${timestamp(time)} ${headerText(hostname, 255)} ${APP_NAME} ${processId} ${id}`;
  const parameters = Object.entries(values)
    .filter(([, value]) => value !== '')
    .map(([name, value]) => ` ${name}="${escapeValue(cut(plain(value), MAX_VALUE_BYTES))}"`);
  const data = `[${SD_ID}${parameters.join('')}]`;
  const start = `${header} ${data} ${BOM}`;
  return `${start}${cut(plain(text), Math.min(MAX_TEXT_BYTES, MAX_MESSAGE_BYTES - Buffer.byteLength(start)))}`;
}

/** Milliseconds in UTC are a form of RFC 3339. A time that is not one is left out. */
const timestamp = (time: string): string => {
  const at = Date.parse(time);
  return Number.isNaN(at) ? '-' : new Date(at).toISOString();
};

/** The header has printable ASCII only. */
const headerText = (text: string, length: number): string => text.replace(/[^!-~]/g, '').slice(0, length) || '-';

/** Without characters that end a line, or change how the characters around them look. */
const plain = (text: string): string => text.toWellFormed().replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, ' ');

/** Source: RFC 5424, 6.3.3. */
const escapeValue = (text: string): string => text.replace(/["\\\]]/g, '\\$&');

/** At most so many bytes, without half a character. */
function cut(text: string, bytes: number): string {
  if (Buffer.byteLength(text) <= bytes) return text;
  let end = Math.min(text.length, bytes);
  while (Buffer.byteLength(text.slice(0, end)) > bytes - 3) end--;
  return `${text.slice(0, end).replace(/[\ud800-\udbff]$/, '')}…`;
}
