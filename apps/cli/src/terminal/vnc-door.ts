import { readFileSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import type { WebSocket } from 'ws';

/** A port of this machine through which one viewer reaches a graphical console. */
export interface VncDoor {
  readonly port: number;
  /** Resolves when the viewer has left, or the console has ended. */
  readonly closed: Promise<void>;
  close(): void;
}

/**
 * Opens a loopback port for one connection of the same user, and closes it after that: other users of the machine could
 * otherwise see and use the screen.
 * @param openSocket opens the console when the viewer has connected
 */
export async function openVncDoor(
  port: number,
  openSocket: () => Promise<WebSocket>,
  isOwn: (socket: Socket) => boolean = belongsToUser,
): Promise<VncDoor> {
  const server = createServer({ pauseOnConnect: true });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => resolve());
  });
  let viewer: Socket | undefined;
  const closed = new Promise<void>((resolve, reject) => {
    server.on('connection', (socket) => {
      if (viewer || !isOwn(socket)) {
        socket.destroy();
        return;
      }
      viewer = socket;
      server.close();
      openSocket().then(
        (console) => join(socket, console, resolve),
        (error: unknown) => {
          socket.destroy();
          reject(error as Error);
        },
      );
    });
    server.on('close', () => {
      if (!viewer) resolve();
    });
  });
  return {
    port: portOf(server),
    closed,
    close: () => {
      server.close();
      viewer?.destroy();
    },
  };
}

function portOf(server: Server): number {
  const address = server.address();
  return typeof address === 'object' && address ? address.port : 0;
}

function join(viewer: Socket, console: WebSocket, done: () => void): void {
  console.on('message', (data: Buffer) => {
    if (viewer.write(data)) return;
    console.pause();
    viewer.once('drain', () => console.resume());
  });
  viewer.on('data', (data) => {
    if (console.readyState !== console.OPEN) return;
    viewer.pause();
    console.send(data, { binary: true }, () => viewer.resume());
  });
  viewer.on('error', () => console.close());
  viewer.on('close', () => console.close());
  console.on('error', () => viewer.destroy());
  console.on('close', () => {
    viewer.end();
    done();
  });
  viewer.resume();
  console.resume();
}

/** Whether the process at the other end runs as this user. Only Linux knows; elsewhere the first connection counts. */
export function belongsToUser({ remotePort, localPort }: Socket): boolean {
  const self = process.getuid?.();
  if (process.platform !== 'linux' || self === undefined) return true;
  const other = `0100007F:${hex(remotePort)} 0100007F:${hex(localPort)}`;
  const line = readFileSync('/proc/net/tcp', 'utf8')
    .split('\n')
    .map((text) => text.trim().split(/\s+/))
    .find(([, from, to]) => `${from} ${to}` === other);
  return Number(line?.[7]) === self;
}

const hex = (port = 0): string => port.toString(16).toUpperCase().padStart(4, '0');
