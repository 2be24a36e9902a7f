import { Peers } from './fields.js';

export class FederationSection {
  /** Fixed URLs of peers that discovery cannot find. Only these may be private addresses. */
  @Peers() peers: Record<string, string> = {};
}
