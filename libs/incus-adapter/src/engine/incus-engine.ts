import type { Clock, Log } from '@headgate/domain-contracts';
import type { IncusApi } from '../api/incus-api.js';
import type { ImageRemote } from './image-remote.js';
import type { InstanceFinder } from './instance-finder.js';

/** One server, with everything that its abilities share. */
export interface IncusEngine {
  /** The name that the operator gave it. */
  readonly context: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly api: IncusApi;
  readonly finder: InstanceFinder;
  /** The only project that this context has; absent: all of them. */
  readonly project?: string;
  /** The storage pool of new containers; absent: that of their profile. */
  readonly pool?: string;
  /** The image servers that containers may be created from, by their names. */
  readonly remotes: ReadonlyMap<string, ImageRemote>;
}
