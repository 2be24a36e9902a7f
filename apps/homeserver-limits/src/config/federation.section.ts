import { Peers } from './fields.js';

export class FederationSection {
  /** Fixed addresses of peers, for those that discovery cannot find. Only these may be private addresses. */
  @Peers() peers: Record<string, string> = {};
}
