import { StringDecoder } from 'node:string_decoder';
import type { WebSocket } from 'ws';
import { apiError, badRequest, type StoreEvent, type SubresourceRequest } from '@headgate/kube-sandbox';
import type { GuestRegistry } from '../controllers/instance/guest-registry.js';
import { RfbSession } from '../guests/rfb-session.js';
import { RESOURCES } from '../resources.js';
import type { VirtualMachineInstance } from '../types/virtual-machine-instance.js';
import type { SimulationContext } from '../simulation-context.js';
import { requireVmi, SUBRESOURCES, vmiConflict } from './subresource-support.js';

const PROTOCOL = 'plain.kubevirt.io';
const NORMAL_CLOSURE = 1000;
/** The size of virt-api's copy buffer. */
const MAX_FRAME_BYTES = 10_240;

type Device = 'console' | 'vnc';

/** Serial and graphical consoles over WebSocket. A device has one session: a new client ends the previous one. */
export class ConsoleSessions {
  private readonly open = new Map<string, WebSocket>();

  constructor(
    private readonly context: SimulationContext,
    private readonly guests: GuestRegistry,
  ) {}

  register(): void {
    for (const device of ['console', 'vnc'] as const) {
      this.context.subresources.connect(
        { group: SUBRESOURCES, resource: 'virtualmachineinstances', subresource: device },
        {
          protocols: [PROTOCOL],
          check: (request) => this.check(device, request),
          connect: (socket, request) => this.connect(device, socket, request),
        },
      );
    }
  }

  /** Ends the sessions of VMIs that end or migrate, because their node changes. */
  watch(): () => void {
    const follow = ({ type, object, previous }: StoreEvent): void => {
      const before = previous as VirtualMachineInstance | undefined;
      const after = object as VirtualMachineInstance;
      const moved = before?.status?.nodeName !== undefined && before.status.nodeName !== after.status?.nodeName;
      const ended = type === 'DELETED' || (before?.status?.phase === 'Running' && after.status?.phase !== 'Running');
      if (moved || ended) this.endAll(after);
    };
    return this.context.store.subscribe(RESOURCES.vmi, follow, { atRest: 'never' });
  }

  private endAll({ metadata }: VirtualMachineInstance): void {
    for (const device of ['console', 'vnc']) this.open.get(`${metadata.uid}/${device}`)?.close(NORMAL_CLOSURE);
  }

  private check(device: Device, request: SubresourceRequest): void {
    const vmi = requireVmi(this.context, request);
    const { autoattachGraphicsDevice, autoattachSerialConsole } = vmi.spec.domain.devices;
    if (device === 'vnc' && autoattachGraphicsDevice === false) throw badRequest('No graphics devices are present.');
    if (device === 'console' && autoattachSerialConsole === false) throw badRequest('No serial consoles are present.');
    if (device === 'console' && vmi.status?.phase === 'Failed')
      throw vmiConflict(request.name, 'VMI is in failed status');
    if (vmi.status?.phase !== 'Running') throw badRequest('VMI is not running');
    const preserve = this.context.release.preservesScreenSessions && request.query.get('preserveSession') === 'true';
    if (device === 'vnc' && preserve && this.open.has(`${vmi.metadata.uid}/vnc`)) {
      throw apiError(
        500,
        'InternalError',
        'Internal error occurred: unexpected return code 503 (503 Service Unavailable), message: Active VNC connection. Request denied.',
      );
    }
  }

  private connect(device: Device, socket: WebSocket, request: SubresourceRequest): void {
    const vmi = requireVmi(this.context, request);
    const id = `${vmi.metadata.uid}/${device}`;
    this.open.get(id)?.close(NORMAL_CLOSURE);
    this.open.set(id, socket);
    const release = device === 'console' ? this.attachSerial(socket, vmi) : this.attachScreen(socket, vmi);
    socket.on('error', () => socket.terminate());
    socket.on('close', () => {
      release();
      if (this.open.get(id) === socket) this.open.delete(id);
    });
  }

  private attachSerial(socket: WebSocket, vmi: VirtualMachineInstance): () => void {
    const guest = this.guests.of(vmi);
    // A character of several bytes may be split between two messages.
    const decoder = new StringDecoder('utf8');
    socket.on('message', (data: Buffer, isBinary) => {
      if (isBinary) guest.typeOnSerial(decoder.write(bytesOf(data)));
    });
    return guest.onSerial((data) => {
      for (let at = 0; at < data.length; at += MAX_FRAME_BYTES) socket.send(data.subarray(at, at + MAX_FRAME_BYTES));
    });
  }

  private attachScreen(socket: WebSocket, vmi: VirtualMachineInstance): () => void {
    const { screen, keyboard } = this.guests.of(vmi);
    const session = new RfbSession(
      screen,
      keyboard,
      (data) => socket.send(data),
      () => socket.close(NORMAL_CLOSURE),
    );
    socket.on('message', (data: Buffer, isBinary) => {
      if (isBinary) screen.batch(() => session.receive(bytesOf(data)));
    });
    return () => session.close();
  }
}

const bytesOf = (data: Buffer | ArrayBuffer | Buffer[]): Buffer =>
  Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data as Buffer);
