import {
  ConsoleSource,
  DomainError,
  type ConsoleStream,
  type InstanceRef,
  type SerialLine,
  type Shell,
} from '@headgate/domain-contracts';
import { describeDomain, type DomainDescription } from '../domain-xml/domain-description.js';
import type { DomainFinder } from '../domains/domain-finder.js';
import { isRemote } from '../host/host.js';
import type { LibvirtConnection } from '../connection/libvirt-connection.js';
import { connectSocket } from './connect-socket.js';
import { openTerminal } from './open-terminal.js';
import { readSerialLog, withoutOverlap } from './serial-log.js';
import { sshForward, sshTargetOf } from './ssh-forward.js';

export class LibvirtConsoles extends ConsoleSource {
  override readonly screenSharing = 'preferred';

  constructor(
    private readonly connection: LibvirtConnection,
    private readonly finder: DomainFinder,
  ) {
    super();
  }

  override async openVnc(ref: InstanceRef): Promise<ConsoleStream> {
    const { name, vnc, graphics } = await this.running(ref);
    if (!vnc) {
      const has = graphics.length > 0 ? `only ${graphics.join(' and ')}` : 'none';
      throw new DomainError('NOT_SUPPORTED', `${name} has no VNC console (graphics: ${has}).`);
    }
    const address = vnc.port === undefined ? undefined : { host: toConnectAddress(vnc.address), port: vnc.port };
    if (isRemote(this.connection.uri)) return this.openRemoteVnc(name, address);
    if (vnc.socket !== undefined) return connectSocket({ path: vnc.socket });
    if (address) return connectSocket(address);
    throw new DomainError('NOT_SUPPORTED', `The VNC console of ${name} does not listen on any socket or port.`);
  }

  /**
   * Opens the line before reading the log, so that no output is lost in between. QEMU serves one client at a time: the
   * next one is connected when this stream closes.
   */
  override async openSerial(ref: InstanceRef): Promise<SerialLine> {
    const { name, serial } = await this.running(ref);
    if (isRemote(this.connection.uri)) {
      throw new DomainError(
        'NOT_SUPPORTED',
        `The serial console of ${name} is on another machine. Only the graphical console can be reached over ssh.`,
      );
    }
    if (serial?.path === undefined || !['unix', 'pty'].includes(serial.type)) {
      throw new DomainError(
        'NOT_SUPPORTED',
        `${name} has no serial console of type pty or unix, so it can't be opened.`,
      );
    }
    const stream = serial.type === 'unix' ? await connectSocket({ path: serial.path }) : openTerminal(serial.path);
    // A line that breaks before it is returned is closed. Without a listener, the error would end the service.
    stream.on('error', () => undefined);
    stream.read(0);
    const log = await readSerialLog(serial.logFile);
    // Peek without consuming: the stream must reach the caller unread, neither flowing nor paused.
    const delivered = (stream.read() as Buffer | null) ?? Buffer.alloc(0);
    if (delivered.length > 0) stream.unshift(delivered);
    return { stream, backlog: withoutOverlap(log, delivered) };
  }

  override openShell(): Promise<Shell> {
    return Promise.reject(
      new DomainError('NOT_SUPPORTED', 'libvirt does not run containers, so there is no shell to open.'),
    );
  }

  private openRemoteVnc(
    name: string,
    address: { host: string; port: number } | undefined,
  ): Promise<ConsoleStream> | ConsoleStream {
    const target = sshTargetOf(this.connection.uri);
    if (!target)
      throw new DomainError(
        'NOT_SUPPORTED',
        'Consoles on another machine are available over ssh only: use a qemu+ssh:// URI.',
      );
    if (!address) {
      throw new DomainError(
        'NOT_SUPPORTED',
        `The VNC console of ${name} is a unix socket on another machine: configure it to listen on 127.0.0.1 there.`,
      );
    }
    return sshForward(target, address);
  }

  private async running(ref: InstanceRef): Promise<DomainDescription> {
    const { uuid, name } = await this.finder.find(ref);
    const domain = await this.connection.domains.inspect(uuid);
    if (!domain) throw new DomainError('INSTANCE_NOT_FOUND', `The domain ${name} no longer exists.`);
    if (!domain.state.isActive)
      throw new DomainError('WRONG_STATE', `${name} is not running, so it has no console: start it first.`);
    return describeDomain(domain.xml);
  }
}

/** A wildcard listen address is reached through loopback. */
const toConnectAddress = (address: string | undefined): string =>
  address === undefined || address === '0.0.0.0' ? '127.0.0.1' : address === '::' ? '::1' : address;
