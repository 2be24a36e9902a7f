import { IsArray, IsOptional } from 'class-validator';
import { FilledText, KeyPrefix, OneSentinel, RedisUrl, WholeNumber } from './fields.js';

/** Every bounded request waits this long for a server that does not respond. */
const MAX_DECISION_MS = 60_000;

/** A primary that Sentinel monitors. */
export interface SentinelTable {
  /** The name of the monitored primary. */
  readonly name: string;
  /** URLs of the sentinels. */
  readonly nodes: readonly string[];
}

/**
 * Windows that several gateways in front of one homeserver share. At most one of `url`, `cluster` and `sentinel` is
 * set.
 */
export class SharedSection {
  /** The server that stores them. Absent, like `cluster` and `sentinel`: this gateway has windows of its own. */
  @IsOptional() @RedisUrl() url?: string;
  /** URLs of some nodes of a Redis Cluster, which report the others. */
  @IsOptional() @IsArray() @RedisUrl({ each: true }) cluster?: string[];
  @IsOptional() @OneSentinel() sentinel?: SentinelTable;
  /** The user on the server, the primary or the nodes, instead of one in the URL. */
  @IsOptional() @FilledText() username?: string;
  /** A file whose first line is the password, to keep it out of the configuration. */
  @IsOptional() @FilledText() password_file?: string;
  /** A file whose first line keys the digests of names and addresses. */
  @IsOptional() @FilledText() secret_file?: string;
  /** The certificate authorities of the server, a PEM file; those of the system when left out. */
  @IsOptional() @FilledText() ca_file?: string;
  /** The prefix of every key. Gateways with the same prefix count together. */
  @KeyPrefix() prefix = 'limits';
  /** How long a response may take before this gateway counts on its own. */
  @WholeNumber(MAX_DECISION_MS) timeout_ms = 100;
}

/** The URLs of the servers that are asked first. */
export const sharedUrls = ({ url, cluster, sentinel }: Readonly<SharedSection>): readonly string[] =>
  url === undefined ? (cluster ?? sentinel?.nodes ?? []) : [url];

export function sharedProblems(section: Readonly<SharedSection>): string[] {
  const { url, cluster, sentinel, username, password_file, secret_file, ca_file } = section;
  const servers = [url, cluster, sentinel].filter((server) => server !== undefined).length;
  if (servers > 1) return ['only one of shared.url, shared.cluster and shared.sentinel can be set'];
  if (servers === 0) {
    const given = Object.entries({ username, password_file, secret_file, ca_file });
    return given.flatMap(([key, value]) =>
      value === undefined ? [] : [`shared.url, shared.cluster or shared.sentinel is needed for shared.${key}`],
    );
  }
  const problems: string[] = [];
  const urls = sharedUrls(section).map((one) => new URL(one));
  const name = url === undefined ? (cluster ? 'shared.cluster' : 'shared.sentinel.nodes') : 'shared.url';
  if (urls.length === 0) problems.push(`${name} must have the URL of at least one node`);
  if (new Set(urls.map(({ protocol }) => protocol)).size > 1) problems.push(`${name} mixes redis:// and rediss://`);
  if (url === undefined && urls.some(({ pathname }) => pathname.length > 1)) {
    problems.push(`${name} must not name a database: its nodes have only one`);
  }
  // The credentials in the URLs of sentinels are those of the sentinels.
  if (!sentinel && password_file !== undefined && urls.some(({ password }) => password !== '')) {
    problems.push(`${name} and shared.password_file both have a password`);
  }
  if (!sentinel && username !== undefined && urls.some((one) => one.username !== '')) {
    problems.push(`${name} and shared.username both have a user`);
  }
  if (ca_file !== undefined && urls.some(({ protocol }) => protocol !== 'rediss:')) {
    problems.push('shared.ca_file is for rediss:// URLs');
  }
  return problems;
}
