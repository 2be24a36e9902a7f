import { IsOptional } from 'class-validator';
import { FilledText, KeyPrefix, RedisUrl, WholeNumber } from './fields.js';

/** Every bounded request waits this long for a server that does not respond. */
const MAX_DECISION_MS = 60_000;

/** Windows that several gateways in front of one homeserver share. */
export class SharedSection {
  /** The server that stores them. Absent: this gateway has windows of its own. */
  @IsOptional() @RedisUrl() url?: string;
  /** A file whose first line is the password, to keep it out of the configuration. */
  @IsOptional() @FilledText() password_file?: string;
  /** The certificate authorities of the server, a PEM file; those of the system when left out. */
  @IsOptional() @FilledText() ca_file?: string;
  /** The prefix of every key. Gateways with the same prefix count together. */
  @KeyPrefix() prefix = 'limits';
  /** How long a response may take before this gateway counts on its own. */
  @WholeNumber(MAX_DECISION_MS) timeout_ms = 100;
}

export function sharedProblems({ url, password_file, ca_file }: Readonly<SharedSection>): string[] {
  const problems: string[] = [];
  const given = { password_file, ca_file };
  for (const [key, value] of Object.entries(given)) {
    if (value !== undefined && url === undefined) problems.push(`shared.url is needed for shared.${key}`);
  }
  if (url === undefined) return problems;
  const { protocol, password } = new URL(url);
  if (password !== '' && password_file !== undefined)
    problems.push('shared.url and shared.password_file both have a password');
  if (ca_file !== undefined && protocol !== 'rediss:') problems.push('shared.ca_file is for rediss:// URLs');
  return problems;
}
