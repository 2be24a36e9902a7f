import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import { apiError, badRequest, type SubresourceRequest } from '@headgate/kube-sandbox';
import { openSimulatedPort } from '../guests/simulated-ports.js';
import { RESOURCES } from '../resources.js';
import { isTrue } from '../types/condition.js';
import type { VirtualMachineInstance } from '../types/virtual-machine-instance.js';
import type { SimulationContext } from '../simulation-context.js';
import { findVmi, requireVmi, SUBRESOURCES, vmConflict, vmiConflict, requireVm } from './subresource-support.js';

const PROTOCOL = 'plain.kubevirt.io';
const NORMAL_CLOSURE = 1000;
/** The size of virt-api's copy buffer. */
const MAX_FRAME_BYTES = 10_240;
const MAX_PORT = 65_535;

/**
 * `portforward/{port}` and `portforward/{port}/{protocol}`: virt-api connects to the first address of the VMI before
 * the upgrade, and copies bytes. The end of either side ends both. It sends a ping each second and waits 60 s for an
 * answer; the simulation sends none.
 */
export class GuestPortSessions {
  private readonly open = new Map<string, Set<WebSocket>>();
  /** The connections between the check of a request and its upgrade. */
  private readonly dialed = new WeakMap<SubresourceRequest['headers'], Duplex>();

  constructor(private readonly context: SimulationContext) {}

  register(): void {
    for (const resource of ['virtualmachineinstances', 'virtualmachines'] as const)
      this.context.subresources.connect(
        { group: SUBRESOURCES, resource, subresource: 'portforward' },
        {
          protocols: [PROTOCOL],
          check: (request) => this.dial(resource, request),
          connect: (socket, request) => this.connect(socket, request),
        },
      );
  }

  /** The connections of a VMI that ends break. */
  watch(): () => void {
    return this.context.store.subscribe(
      RESOURCES.vmi,
      ({ type, object }) => {
        const { metadata, status } = object as VirtualMachineInstance;
        if (type !== 'DELETED' && status?.phase === 'Running') return;
        for (const socket of this.open.get(metadata.uid!) ?? []) socket.close(NORMAL_CLOSURE);
      },
      { atRest: 'never' },
    );
  }

  /** @throws ApiError 400, 404, 409, 500 */
  private async dial(
    resource: 'virtualmachineinstances' | 'virtualmachines',
    request: SubresourceRequest,
  ): Promise<void> {
    if (resource === 'virtualmachines' && requireVm(this.context, request).status?.created !== true)
      throw vmConflict(request.name, 'VMI is not started');
    const vmi = requireVmi(this.context, request);
    if (isTrue(vmi.status?.conditions, 'Paused')) throw vmiConflict(request.name, 'VMI is paused');
    const address = vmi.status?.interfaces?.[0]?.ipAddress;
    if (vmi.status?.phase !== 'Running' || address === undefined) throw badRequest('no network interfaces are present');
    const [text = '', protocol = 'tcp'] = request.rest;
    const port = Number(text);
    const isOpen = protocol === 'tcp' && /^\d{1,5}$/.test(text) && port > 0 && port <= MAX_PORT;
    const { chooseGuestPort = openSimulatedPort } = this.context;
    const connection = isOpen ? await chooseGuestPort(vmi.metadata.name, port) : undefined;
    if (!connection) throw dialingFailed(protocol, address, text);
    connection.on('error', () => undefined);
    this.dialed.set(request.headers, connection);
  }

  private connect(socket: WebSocket, request: SubresourceRequest): void {
    const connection = this.dialed.get(request.headers);
    const vmi = findVmi(this.context, request);
    if (!connection || !vmi) return socket.close(NORMAL_CLOSURE);
    const uid = vmi.metadata.uid!;
    const sockets = this.open.get(uid) ?? new Set();
    this.open.set(uid, sockets.add(socket));
    copy(socket, connection);
    socket.on('close', () => {
      sockets.delete(socket);
      if (sockets.size === 0) this.open.delete(uid);
    });
  }
}

const dialingFailed = (protocol: string, address: string, port: string) =>
  apiError(
    500,
    'InternalError',
    `Internal error occurred: dialing VM: dial ${protocol} ${address}:${port}: connect: connection refused`,
  );

function copy(socket: WebSocket, connection: Duplex): void {
  socket.on('message', (data: Buffer, isBinary) => {
    if (!isBinary || connection.write(data)) return;
    socket.pause();
    connection.once('drain', () => socket.resume());
  });
  connection.on('data', (data: Buffer) => {
    connection.pause();
    const parts = Math.ceil(data.length / MAX_FRAME_BYTES);
    for (let part = 0; part < parts; part++) {
      const isLast = part === parts - 1;
      const bytes = data.subarray(part * MAX_FRAME_BYTES, (part + 1) * MAX_FRAME_BYTES);
      socket.send(bytes, () => isLast && connection.resume());
    }
  });
  connection.on('end', () => socket.close(NORMAL_CLOSURE));
  connection.on('close', () => socket.close(NORMAL_CLOSURE));
  socket.on('error', () => socket.terminate());
  socket.on('close', () => connection.destroy());
}
