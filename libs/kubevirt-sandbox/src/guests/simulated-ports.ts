import { PassThrough, type Duplex } from 'node:stream';

/** Chooses what accepts a connection at a port of a guest. @returns undefined where no program does */
export type GuestPortChooser = (name: string, port: number) => Duplex | undefined | Promise<Duplex | undefined>;

/** Source: RFC 862. */
const ECHO_PORT = 7;
const SSH_PORT = 22;
/** The line that a server of SSH begins with. Source: RFC 4253, 4.2. */
const SSH_BANNER = 'SSH-2.0-Simulated_guest\r\n';

/** An echo at port 7, and a line of SSH at port 22 that goes no further. */
export const openSimulatedPort: GuestPortChooser = (_name, port) => {
  if (port === ECHO_PORT) return new PassThrough();
  return port === SSH_PORT ? new SshBanner() : undefined;
};

/** Sends the first line of a server, and ends the connection after the first line of the client. */
class SshBanner extends PassThrough {
  constructor() {
    super();
    this.push(SSH_BANNER);
  }

  override _transform(_data: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.push(null);
    done();
  }
}
