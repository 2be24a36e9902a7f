import { createServer, type Server, type Socket } from 'node:net';
import type { AddressInfo } from 'node:net';

/** A mail server that accepts every mail and remembers its recipients. */
export class MailServer {
  readonly recipients: string[] = [];
  private readonly server: Server;
  private readonly open = new Set<Socket>();

  private constructor() {
    this.server = createServer((socket) => this.serve(socket));
  }

  static async listen(): Promise<MailServer> {
    const mail = new MailServer();
    await new Promise<void>((resolve) => mail.server.listen(0, '127.0.0.1', resolve));
    return mail;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  async close(): Promise<void> {
    for (const socket of this.open) socket.destroy();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private serve(socket: Socket): void {
    this.open.add(socket);
    let text = '';
    let isInData = false;
    const answer = (line: string) => void socket.write(`${line}\r\n`);
    socket.setEncoding('latin1').on('error', () => undefined);
    socket.once('close', () => this.open.delete(socket));
    socket.on('data', (chunk: string) => {
      text += chunk;
      for (let end = text.indexOf('\r\n'); end >= 0; end = text.indexOf('\r\n')) {
        const line = text.slice(0, end);
        text = text.slice(end + 2);
        if (isInData) {
          isInData = line !== '.';
          if (!isInData) answer('250 accepted');
        } else if (/^DATA/i.test(line)) {
          isInData = true;
          answer('354 go on');
        } else if (/^QUIT/i.test(line)) answer('221 bye');
        else {
          const [, recipient] = /^RCPT TO:<(.*)>/i.exec(line) ?? [];
          if (recipient !== undefined) this.recipients.push(recipient);
          answer('250 fine');
        }
      }
    });
    answer('220 mail.example');
  }
}
