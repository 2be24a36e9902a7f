import { AtLeastOne, Flag } from './fields.js';

export class RatelimitSection {
  /** Off: no rate is applied. The caps stay on. */
  @Flag() enabled = true;
  @AtLeastOne() rings_per_minute = 10;
  /** Also count the ring's names of the previous draft (m.call.notify). */
  @Flag() count_old_ring_names = false;
  /** Off: a successful login forgets the failures of its account only, so that nobody can launder an address. */
  @Flag() login_success_clears_source = true;
}
