import { Dendrite, describeWithDendrite } from './dendrite.js';
import { describeWithSynapse, Synapse } from './synapse.js';

export interface RunningHomeserver {
  readonly url: string;
  dispose(): Promise<void>;
}

/** A homeserver that others have written, and what it has of the operations with bounds. */
export interface RealHomeserver {
  readonly name: 'Synapse' | 'Dendrite';
  start(): Promise<RunningHomeserver>;
  /** The versions of the client API under which it has `login`. */
  readonly loginVersions: readonly string[];
  /** Those under which it has `register`. */
  readonly registerVersions: readonly string[];
  /** Its status for a wrong password in the `auth` of a change of the password. */
  readonly wrongAuthOfPassword: 401 | 403;
  /** Whether it takes names of members in any case, and keeps what a repeated member does not replace. */
  readonly readsLikeGo: boolean;
  /** How many one-time keys of a device it counts at most; undefined for all. */
  readonly mostCountedKeys: number | undefined;
  /** Whether it schedules delayed events (MSC4140). Without them, it sends the event at once. */
  readonly hasDelayedEvents: boolean;
  /** Whether it deletes account data (MSC3391). */
  readonly deletesAccountData: boolean;
  /** Whether it has media IDs without media. */
  readonly reservesMedia: boolean;
}

const SYNAPSE: RealHomeserver = {
  name: 'Synapse',
  start: () => Synapse.start(),
  loginVersions: ['api/v1', 'r0', 'v3', 'unstable'],
  registerVersions: ['r0', 'v3', 'unstable'],
  wrongAuthOfPassword: 401,
  readsLikeGo: false,
  mostCountedKeys: undefined,
  hasDelayedEvents: true,
  deletesAccountData: true,
  reservesMedia: true,
};

const DENDRITE: RealHomeserver = {
  name: 'Dendrite',
  start: () => Dendrite.start(),
  loginVersions: ['r0', 'v3'],
  registerVersions: ['r0', 'v3'],
  wrongAuthOfPassword: 403,
  readsLikeGo: true,
  mostCountedKeys: 100,
  hasDelayedEvents: false,
  deletesAccountData: false,
  reservesMedia: false,
};

/** Runs a suite on each homeserver; it is skipped where one is not installed. @param title ends with its name */
export function onHomeservers(title: string, suite: (homeserver: RealHomeserver) => void): void {
  describeWithSynapse(`${title} Synapse`, () => suite(SYNAPSE));
  describeWithDendrite(`${title} Dendrite`, () => suite(DENDRITE));
}
