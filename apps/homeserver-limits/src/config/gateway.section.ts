import { IsArray, IsOptional } from 'class-validator';
import { AtLeastOne, FilledText, HttpOrigin } from './fields.js';

export class GatewaySection {
  /** The homeserver behind us. Absent: the embedded mode. */
  @IsOptional() @HttpOrigin() upstream?: string;
  /** Who may have signed an https upstream's certificate (PEM); those that the system trusts when left out. */
  @IsOptional() @FilledText() ca_file?: string;
  /** Registration files of application services, YAML. */
  @IsArray() @FilledText({ each: true }) appservices: string[] = [];
  /** How long the upstream may be silent before the caller gets a 504. A request that asks to wait gets that on top. */
  @AtLeastOne() timeout_ms = 60_000;
  /** How long the owner of a token is remembered. */
  @AtLeastOne() whoami_ttl_ms = 60_000;
  /** How long a count of what somebody holds is believed before the upstream is asked again. */
  @AtLeastOne() reconcile_ms = 300_000;
}
