import { IsArray } from 'class-validator';
import { AtLeastOne, Flag, OneOf } from './fields.js';

/** The rates by name, as metrics and the operator's API call them. */
export const RATE_NAMES = [
  'login_account',
  'login_source',
  'register',
  'ring',
  'openid_token',
  'sfu_credential',
] as const;

export class RatelimitSection {
  /** Off: no rate is applied. The caps stay on. */
  @Flag() enabled = true;
  @AtLeastOne() rings_per_minute = 10;
  /** Also count the ring's names of the previous draft (m.call.notify). */
  @Flag() count_old_ring_names = false;
  /** Off: a successful login forgets the failures of its account only, so that nobody can launder an address. */
  @Flag() login_success_clears_source = true;
  /** Rates that are counted and reported and refuse nobody: for looking before leaping. */
  @IsArray() @OneOf(RATE_NAMES, { each: true }) shadow: string[] = [];
}
