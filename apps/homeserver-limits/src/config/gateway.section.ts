import { IsArray, IsOptional } from 'class-validator';
import { FilledText, Flag, HttpOrigin, MAX_TIMEOUT_MS, WholeNumber } from './fields.js';

/** 7 days. */
const MAX_COUNT_AGE_MS = 7 * 24 * 60 * 60 * 1000;

export class GatewaySection {
  /** The homeserver behind the gateway. Absent: the embedded mode. */
  @IsOptional() @HttpOrigin() upstream?: string;
  /** The certificate authorities of an https upstream, a PEM file; those of the system when left out. */
  @IsOptional() @FilledText() ca_file?: string;
  /**
   * Whether requests that are not read are relayed from socket to socket. Off: Node's HTTP server and client handle
   * every request.
   */
  @Flag() relay = true;
  /** Registration files of application services, YAML. */
  @IsArray() @FilledText({ each: true }) appservices: string[] = [];
  /** How long the upstream may be idle before the caller gets a 504. A long poll adds its own timeout. */
  @WholeNumber(MAX_TIMEOUT_MS) timeout_ms = 60_000;
  /** How long the owner of a token is cached. */
  @WholeNumber(MAX_TIMEOUT_MS) whoami_ttl_ms = 60_000;
  /** How long a count of a user's holdings is cached. */
  @WholeNumber(MAX_COUNT_AGE_MS) reconcile_ms = 300_000;
}
