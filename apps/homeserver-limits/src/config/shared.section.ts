import { IsOptional } from 'class-validator';
import { AtLeastOne, FilledText, KeyPrefix, RedisUrl } from './fields.js';

/** Windows that several gateways before one homeserver share. */
export class SharedSection {
  /** The server that keeps them. Absent: this node has windows of its own. */
  @IsOptional() @RedisUrl() url?: string;
  /** A file whose first line is the password, so that none stands in the configuration. */
  @IsOptional() @FilledText() password_file?: string;
  /** Who may have signed the server's certificate (PEM); those that the system trusts when left out. */
  @IsOptional() @FilledText() ca_file?: string;
  /** Stands before every key: gateways with the same one count together. */
  @KeyPrefix() prefix = 'limits';
  /** How long an answer may take before this node counts on its own. */
  @AtLeastOne() timeout_ms = 100;
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
