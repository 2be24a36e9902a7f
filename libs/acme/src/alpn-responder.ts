import type { Server, Socket } from 'node:net';
import { createSecureContext, createServer } from 'node:tls';
import type { Clock } from '@headgate/domain-contracts';
import type { ChallengeAnswers } from './challenge-answers.js';
import { protocolsOf } from './client-hello.js';

const PROTOCOL = 'acme-tls/1';
const HELLO_MS = 10_000;
const MAX_HELLO_BYTES = 16_384 + 5;

/**
 * Answers tls-alpn-01 challenges on the port of a TLS server. While a challenge waits, it looks at the beginning of
 * each new connection, because Node chooses the certificate before the protocol. Other connections get their own
 * server. Source: RFC 8737.
 */
export class AlpnResponder {
  private readonly challenges;
  private own: ((socket: Socket) => void)[] = [];
  private isActive = false;
  private readonly stopListening: () => void;

  constructor(
    private readonly server: Server,
    private readonly answers: ChallengeAnswers,
    private readonly clock: Clock,
  ) {
    this.challenges = createServer(
      {
        ALPNProtocols: [PROTOCOL],
        minVersion: 'TLSv1.2',
        handshakeTimeout: HELLO_MS,
        SNICallback: (domain, done) => {
          const certificate = this.answers.certificateFor(domain);
          if (certificate) return done(null, createSecureContext(certificate));
          done(new Error('There is no challenge for this name.'));
        },
      },
      // The handshake is the answer.
      (socket) => void socket.on('error', () => undefined).end(),
    );
    this.challenges.on('tlsClientError', () => undefined);
    this.stopListening = answers.onChange(() => this.update());
  }

  stop(): void {
    this.stopListening();
    this.restore();
  }

  private update(): void {
    if (!this.answers.hasCertificates) return this.restore();
    if (this.isActive) return;
    this.isActive = true;
    this.own = this.server.listeners('connection') as ((socket: Socket) => void)[];
    this.server.removeAllListeners('connection');
    this.server.on('connection', this.receive);
  }

  private restore(): void {
    if (!this.isActive) return;
    this.isActive = false;
    this.server.off('connection', this.receive);
    for (const listener of this.own) this.server.on('connection', listener);
  }

  private readonly receive = (socket: Socket): void => {
    let bytes = Buffer.alloc(0);
    const read = (): void => {
      for (let data = socket.read() as Buffer | null; data; data = socket.read() as Buffer | null)
        bytes = Buffer.concat([bytes, data]);
      const protocols = protocolsOf(bytes);
      if (protocols === undefined && bytes.length < MAX_HELLO_BYTES) return;
      finish();
      socket.unshift(bytes);
      if (protocols?.includes(PROTOCOL)) this.challenges.emit('connection', socket);
      else for (const listener of this.own) listener.call(this.server, socket);
    };
    const drop = (): void => {
      finish();
      socket.destroy();
    };
    const cancel = this.clock.after(HELLO_MS, drop);
    const finish = (): void => {
      cancel();
      socket.off('readable', read).off('end', drop).off('error', drop);
    };
    socket.on('readable', read).on('end', drop).on('error', drop);
  };
}
