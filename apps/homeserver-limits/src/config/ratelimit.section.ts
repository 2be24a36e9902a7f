import { IsArray } from 'class-validator';
import { FilledText, Flag, WholeNumber } from './fields.js';

/** The highest limit that a rate can count to. */
export const MAX_RATE = 1_000_000;

export class RatelimitSection {
  /** Off: no rate is applied. The caps stay on. */
  @Flag() enabled = true;
  @WholeNumber(MAX_RATE) rings_per_minute = 10;
  /** Also count the ring's names of the previous draft (m.call.notify). */
  @Flag() count_old_ring_names = false;
  /**
   * Off: a successful login resets its account only, so that an attacker with an account cannot reset their address.
   */
  @Flag() login_success_clears_source = true;
  /** Rates and rules that are counted and reported but refuse no request, for a trial before they apply. */
  @IsArray() @FilledText({ each: true }) shadow: string[] = [];
}
