import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import type { Certificate } from './create-certificate.js';

export interface ReceivedMail {
  readonly from: string;
  readonly recipients: readonly string[];
  /** The headers and the body, as they arrived. */
  readonly source: string;
  readonly isEncrypted: boolean;
  readonly user: string;
}

/** A real SMTP server on the loopback interface, with STARTTLS and a login, which keeps what it receives. */
export class MailPeer {
  readonly received: ReceivedMail[] = [];
  /** Logins that were tried: user and password. */
  readonly logins: (readonly [string, string])[] = [];
  /** Recipients that it refuses. */
  readonly unknown = new Set<string>();
  /** Why it refuses messages: an answer with its status. */
  refusal: { readonly responseCode: number; readonly message: string } | undefined;
  password = 'correct horse';
  private readonly server: SMTPServer;

  constructor(certificate: Certificate | undefined, options: SMTPServerOptions = {}) {
    this.server = new SMTPServer({
      ...(certificate && { cert: certificate.cert, key: certificate.key }),
      authOptional: true,
      disableReverseLookup: true,
      ...(certificate === undefined && { disabledCommands: ['STARTTLS'], allowInsecureAuth: true }),
      onAuth: (login, _session, callback) => {
        const { username, password } = { username: login.username ?? '', password: login.password ?? '' };
        this.logins.push([username, password]);
        if (password === this.password) return callback(null, { user: username });
        // As some servers do: it repeats the login.
        const repeated = Buffer.from(`\u0000${username}\u0000${password}`).toString('base64');
        return callback(Object.assign(new Error(`no login with ${password} (${repeated})`), { responseCode: 535 }));
      },
      onRcptTo: ({ address }, _session, callback) => {
        const isUnknown = this.unknown.has(address);
        callback(isUnknown ? Object.assign(new Error('no such user'), { responseCode: 550 }) : null);
      },
      onData: (stream, session, callback) => {
        const chunks: Buffer[] = [];
        stream.on('data', (chunk: Buffer) => chunks.push(chunk));
        stream.on('end', () => {
          if (this.refusal) return callback(Object.assign(new Error(this.refusal.message), this.refusal));
          const { mailFrom, rcptTo } = session.envelope;
          this.received.push({
            from: mailFrom ? mailFrom.address : '',
            recipients: rcptTo.map(({ address }) => address),
            source: Buffer.concat(chunks).toString('utf8'),
            isEncrypted: session.secure,
            user: String(session.user ?? ''),
          });
          return callback(null, 'kept');
        });
      },
      ...options,
    });
    // A client that refuses the certificate ends the connection.
    this.server.on('error', () => undefined);
  }

  /** @returns its port */
  async open(): Promise<number> {
    const listener = this.server.listen(0, '127.0.0.1');
    await once(listener, 'listening');
    return (listener.address() as AddressInfo).port;
  }

  close(): Promise<void> {
    return new Promise((resolve) => this.server.close(() => resolve()));
  }
}
