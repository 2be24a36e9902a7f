import { IsArray, IsOptional, Min } from 'class-validator';
import { IsListenAddress } from '@headgate/nest-kit';
import { Flag, Network, OneOf, RegistrationToken, ServerName, WholeNumber } from './fields.js';

/** More than the processors that one process can keep busy with connections. */
const MAX_WORKERS = 64;
/** The memory for request bodies that a worker needs at least. */
const MIN_BODY_MEMORY_MIB = 16;

export class ServerSection {
  /** The server's name in user IDs, and the destination in the signatures of peers. */
  @ServerName() name = 'localhost';
  @IsListenAddress() listen = '127.0.0.1:8008';
  /** How many processes handle the requests of a gateway. 1: the one that listens. */
  @WholeNumber(MAX_WORKERS) workers = 1;
  /** The proxies whose X-Forwarded-For header is trusted. */
  @IsArray() @Network({ each: true }) trusted_proxies: string[] = [];
  /** The prefix length of the IPv6 network that counts as one caller. */
  @OneOf([64, 56, 48]) ipv6_prefix = 64;
  /**
   * The memory in MiB that request bodies share while they are read. Slow senders are refused first when it is
   * exhausted.
   */
  @WholeNumber(65_536)
  @Min(MIN_BODY_MEMORY_MIB, { message: `$property must be at least ${MIN_BODY_MEMORY_MIB}` })
  body_memory_mib = 64;
  /** How many connections one source may have open. Those of trusted proxies are not bounded. */
  @WholeNumber(1_000_000) connections_per_source = 1_024;
  /** How many requests one source may have in progress, without long polls. Undefined: any number. */
  @IsOptional() @WholeNumber(1_000_000) concurrent_requests_per_source?: number;
  /** The same for long polls. */
  @IsOptional() @WholeNumber(1_000_000) concurrent_polls_per_source?: number;
  /** Embedded mode: whether users can register. */
  @Flag() registration = true;
  /** Embedded mode: registering requires one of these tokens. Empty: no token is required. */
  @IsArray() @RegistrationToken({ each: true }) registration_tokens: string[] = [];
}

/** Whether the requests in progress are bounded. */
export const boundsRequests = (section: Readonly<ServerSection>): boolean =>
  section.concurrent_requests_per_source !== undefined || section.concurrent_polls_per_source !== undefined;

export function workerProblems({ workers, body_memory_mib }: Readonly<ServerSection>, isGateway: boolean): string[] {
  if (workers === 1) return [];
  const problems = isGateway ? [] : ['server.workers is for gateways: gateway.upstream is not set'];
  const needed = workers * MIN_BODY_MEMORY_MIB;
  if (body_memory_mib < needed)
    problems.push(
      `server.body_memory_mib: ${body_memory_mib} is too little for ${workers} workers, which share it; use at least ${needed}`,
    );
  return problems;
}
