import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { DomainError, type Backend } from '@headgate/domain-contracts';
import { buildContainer, buildVm, MemoryBackend, type MemoryBackendOptions, withStatus } from '@headgate/testing';
import type { WebSocket } from 'ws';
import { TestService } from './test-service.js';

export { TestPeers, type Reply } from './test-service.js';

export const unreachable = new DomainError('BACKEND_UNREACHABLE', 'lab does not answer.');

const vm = (name: string, context = 'lab', status: 'Stopped' | 'Running' = 'Stopped') =>
  withStatus(buildVm({ ref: { context, name } }), status);

/** One node and only some abilities, so that the answers for missing abilities are tested too. */
const LIMITED: MemoryBackendOptions = {
  nodeCount: 1,
  unavailable: {
    migration: 'Memory has nowhere to migrate to.',
    containers: 'There are no containers in memory.',
    diagnostics: 'Nothing can be wrong in memory.',
  },
};

/**
 * The whole service over two memory backends, on a free loopback port: `lab` has the VMs `web`, `db` (running) and
 * `twin` and the container `box`; `other` has another `twin`.
 */
export class Edge extends TestService {
  constructor(
    readonly lab = new MemoryBackend('lab', LIMITED),
    readonly other = new MemoryBackend('other', LIMITED),
  ) {
    super();
    for (const known of [vm('web'), vm('db', 'lab', 'Running'), vm('twin'), buildContainer()])
      this.lab.engine.put(known);
    this.other.engine.put(vm('twin', 'other'));
  }

  protected override backends(): readonly Backend[] {
    return [this.lab, this.other];
  }
}

/** The status with which a socket was refused. */
export async function refusalOf(socket: WebSocket): Promise<number> {
  const [, response] = (await once(socket, 'unexpected-response')) as [unknown, IncomingMessage];
  response.resume();
  return response.statusCode ?? 0;
}
