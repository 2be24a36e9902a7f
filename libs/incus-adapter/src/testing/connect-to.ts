import { join } from 'node:path';
import { SILENT_LOG, SystemClock } from '@headgate/domain-contracts';
import type { PrivateIncusd } from '@headgate/testing';
import { ClientIdentity } from '../api/client-identity.js';
import { IncusApi } from '../api/incus-api.js';
import { IncusConnection } from '../api/incus-connection.js';
import type { IncusEngine } from '../engine/incus-engine.js';
import { InstanceFinder } from '../engine/instance-finder.js';

const CONTEXT = 'local';

/** An engine over the socket of a daemon. Close its `api`. */
export function connectTo(daemon: Pick<PrivateIncusd, 'socket'>): IncusEngine {
  const clock = new SystemClock();
  const identity = new ClientIdentity(join('/nonexistent', CONTEXT), () => clock.now());
  const api = new IncusApi(
    new IncusConnection(CONTEXT, { kind: 'socket', path: daemon.socket }, identity, clock),
    clock,
  );
  return {
    context: CONTEXT,
    clock,
    log: SILENT_LOG,
    api,
    finder: new InstanceFinder(CONTEXT, api),
    remotes: new Map(),
  };
}
