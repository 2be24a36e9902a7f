import { IsArray } from 'class-validator';
import { Flag, OneOf, WholeNumber } from './fields.js';

/** The highest limit that a rate can count to. */
const MAX_RATE = 1_000_000;

/** The names of the rates in the metrics and the operator's API. */
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
  @WholeNumber(MAX_RATE) rings_per_minute = 10;
  /** Also count the ring's names of the previous draft (m.call.notify). */
  @Flag() count_old_ring_names = false;
  /** Off: a successful login resets its account only, so that an attacker with an account cannot reset their address. */
  @Flag() login_success_clears_source = true;
  /** Rates that are counted and reported but refuse no request, for a trial before they apply. */
  @IsArray() @OneOf(RATE_NAMES, { each: true }) shadow: string[] = [];
}
