import { connect } from 'node:net';

/** What became of a guess: its status, or `lost` with its worker. */
export type GuessResult = number | 'lost';

/** Guesses one password of an account over a connection of its own, as a stranger does. */
export function guess(url: string, account: string, from: string): Promise<GuessResult> {
  const { promise, resolve } = Promise.withResolvers<GuessResult>();
  const { hostname, port } = new URL(url);
  const body = JSON.stringify({
    type: 'm.login.password',
    identifier: { type: 'm.id.user', user: account },
    password: 'x',
  });
  const socket = connect(Number(port), hostname);
  let received = '';
  socket.setEncoding('latin1');
  socket.on('data', (text: string) => (received += text));
  socket.on('error', () => undefined);
  socket.on('close', () => {
    const [, status] = /^HTTP\/1\.1 (\d{3}) /.exec(received) ?? [];
    resolve(status === undefined ? 'lost' : Number(status));
  });
  socket.write(
    `POST /_matrix/client/v3/login HTTP/1.1\r\nHost: b\r\nX-Forwarded-For: ${from}\r\nConnection: close\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  );
  return promise;
}
