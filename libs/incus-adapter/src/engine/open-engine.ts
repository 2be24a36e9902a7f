import { join } from 'node:path';
import { SILENT_LOG, type Clock, type Log } from '@headgate/domain-contracts';
import { ClientIdentity, type IdentityFiles } from '../api/client-identity.js';
import { identityFolderOf } from '../api/identity-file.js';
import { IncusApi } from '../api/incus-api.js';
import { IncusConnection } from '../api/incus-connection.js';
import type { ServerTarget } from '../api/server-target.js';
import type { ImageRemote } from './image-remote.js';
import type { IncusEngine } from './incus-engine.js';
import { InstanceFinder } from './instance-finder.js';

/** How one server is reached and used. */
export interface IncusEngineOptions {
  /** The name that the operator gave it. */
  readonly context: string;
  readonly target: ServerTarget;
  /** A private folder for the key of this service. */
  readonly dataDir: string;
  readonly clock: Clock;
  readonly log?: Log;
  /** The certificate of this service; by default it creates one in its folder. */
  readonly identity?: IdentityFiles;
  readonly project?: string;
  readonly pool?: string;
  /** The image servers that containers may be created from, by their names. */
  readonly remotes?: ReadonlyMap<string, ImageRemote>;
  readonly mayWrite?: () => boolean;
}

/** Creates the parts that the abilities of one server share. Does no I/O. */
export function openEngine(options: IncusEngineOptions): IncusEngine {
  const { context, target, clock, log = SILENT_LOG, project, pool, remotes = new Map<string, ImageRemote>() } = options;
  const folder = join(options.dataDir, identityFolderOf(context));
  const identity = new ClientIdentity(folder, () => clock.now(), options.identity);
  const api = new IncusApi(new IncusConnection(context, target, identity, clock), clock, options.mayWrite);
  const finder = new InstanceFinder(context, api, project);
  return { context, clock, log, api, finder, project, pool, remotes };
}
