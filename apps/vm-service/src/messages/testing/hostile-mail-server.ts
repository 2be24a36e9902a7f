import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/** An answer, what else happens to the connection, or nothing at all. */
export type Reaction = string | ((socket: Socket) => void) | undefined;

const WORKING: Readonly<Record<string, Reaction>> = {
  banner: '220 hostile ESMTP',
  EHLO: '250-hostile\r\n250 8BITMIME',
  HELO: '250 hostile',
  MAIL: '250 ok',
  RCPT: '250 ok',
  DATA: '354 go on',
  body: '250 kept',
  QUIT: '221 bye',
};

/** A server that speaks just enough SMTP to misbehave at one point. */
export class HostileMailServer {
  /** The commands that it has received, without those of the body. */
  readonly commands: string[] = [];
  /** The bodies that it has received completely. */
  readonly bodies: string[] = [];
  private readonly sockets = new Set<Socket>();
  private readonly server: Server;

  /** @param reactions by the first word of a command, or `banner` and `body` */
  constructor(reactions: Readonly<Record<string, Reaction>>) {
    const all = { ...WORKING, ...reactions };
    this.server = createServer((socket) => {
      this.sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => this.sockets.delete(socket));
      const react = (name: string): void => {
        const reaction = name in all ? all[name] : '502 what?';
        if (typeof reaction === 'function') reaction(socket);
        else if (reaction !== undefined) socket.write(`${reaction}\r\n`);
      };
      this.read(socket, react);
      react('banner');
    });
  }

  async open(): Promise<number> {
    this.server.listen(0, '127.0.0.1');
    await once(this.server, 'listening');
    return (this.server.address() as AddressInfo).port;
  }

  async close(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    this.server.close();
    await once(this.server, 'close');
  }

  private read(socket: Socket, react: (name: string) => void): void {
    let rest = '';
    let isBody = false;
    socket.on('data', (data) => {
      rest += data.toString();
      for (;;) {
        const end = isBody ? rest.indexOf('\r\n.\r\n') : rest.indexOf('\r\n');
        if (end === -1) return;
        const text = rest.slice(0, end);
        rest = rest.slice(end + (isBody ? '\r\n.\r\n'.length : '\r\n'.length));
        if (isBody) {
          this.bodies.push(text);
          isBody = false;
          react('body');
          continue;
        }
        this.commands.push(text);
        const [word = ''] = text.toUpperCase().split(' ');
        isBody = word === 'DATA';
        react(word);
      }
    });
  }
}
