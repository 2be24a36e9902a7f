import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ExpectStream } from './expect-stream.mjs';
import { JsonLinesSocket } from './json-lines-socket.mjs';

/**
 * @typedef {object} GuestOptions
 * @property {string} disk a writable qcow2 image
 * @property {string} [seed] an ISO with a cloud-init seed
 * @property {'q35' | 'pc'} [machine]
 * @property {'virtio' | 'ide' | 'scsi'} [bus] of the disk
 * @property {number} [memoryMiB]
 */

/**
 * A guest in QEMU with software emulation, without libvirt. Provides its serial console, monitor and guest agent.
 */
export class Guest {
  /**
   * @param {{ process: import('node:child_process').ChildProcess, serial: ExpectStream, monitor: JsonLinesSocket,
   *   folder: string }} deps
   */
  constructor({ process, serial, monitor, folder }) {
    this.process = process;
    this.serial = serial;
    this.monitor = monitor;
    this.folder = folder;
    this.startedAt = Date.now();
    /** @type {Promise<number | null>} */
    this.exit =
      process.exitCode !== null ? Promise.resolve(process.exitCode) : once(process, 'exit').then(([code]) => code);
  }

  /**
   * Starts a guest. Its CPUs are held until the consoles are connected, so that no output is lost.
   * @param {GuestOptions} options
   * @returns {Promise<Guest>}
   */
  static async start({ disk, seed, machine = 'q35', bus = 'virtio', memoryMiB = 128 }) {
    const folder = mkdtempSync(join(tmpdir(), 'headgate-guest-'));
    const at = (/** @type {string} */ name) => join(folder, name);
    // QEMU connects to sockets that already listen, so there is no need to wait for files.
    const serialServer = await listen(at('serial'));
    const monitorServer = await listen(at('monitor'));
    const seedArgs = seed
      ? ['-drive', `file=${seed},if=none,id=seed,format=raw,readonly=on`, '-device', 'virtio-blk-pci,drive=seed']
      : [];
    const child = spawn(
      'qemu-system-x86_64',
      [
        ...['-accel', 'tcg', '-machine', machine, '-cpu', 'qemu64', '-m', String(memoryMiB), '-S', '-nodefaults'],
        ...['-vga', 'std', '-display', 'none', '-no-user-config'],
        ...diskArgs(disk, bus),
        ...seedArgs,
        ...['-netdev', 'user,id=net', '-device', 'virtio-net-pci,netdev=net,romfile='],
        ...['-chardev', `socket,id=serial,path=${at('serial')}`, '-serial', 'chardev:serial'],
        ...['-chardev', `socket,id=monitor,path=${at('monitor')}`, '-mon', 'chardev=monitor,mode=control'],
        ...['-device', 'virtio-serial', '-chardev', `socket,id=agent,path=${at('agent')},server=on,wait=off`],
        ...['-device', 'virtserialport,chardev=agent,name=org.qemu.guest_agent.0'],
      ],
      { stdio: ['ignore', 'ignore', 'pipe'] },
    );
    let stderr = '';
    child.stderr.setEncoding('utf8').on('data', (text) => (stderr += text));
    const failed = once(child, 'exit').then(() => {
      throw new Error(`QEMU exited during startup: ${stderr.trim()}`);
    });
    failed.catch(() => {});
    const [serialSocket, monitorSocket] = await Promise.race([
      Promise.all([serialServer.connection, monitorServer.connection]),
      failed,
    ]);
    const monitor = new JsonLinesSocket(monitorSocket);
    await monitor.take('the greeting of the monitor', (message) => 'QMP' in message, 30_000);
    await monitor.call('qmp_capabilities');
    const guest = new Guest({
      process: child,
      serial: new ExpectStream(serialSocket, 'the serial console'),
      monitor,
      folder,
    });
    await monitor.call('cont');
    guest.startedAt = Date.now();
    return guest;
  }

  /** Connects to the guest agent. @returns {Promise<JsonLinesSocket>} */
  agent() {
    return JsonLinesSocket.open(join(this.folder, 'agent'));
  }

  /** Saves a screenshot of the graphical console. @param {string} file path of a PPM image */
  async screenshot(file) {
    await this.monitor.call('screendump', { arguments: { filename: file } });
  }

  /** Kills the guest and removes its sockets. */
  async destroy() {
    if (this.process.exitCode === null && this.process.signalCode === null) this.process.kill('SIGKILL');
    await this.exit;
    this.serial.close();
    this.monitor.close();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** @param {string} disk @param {'virtio' | 'ide' | 'scsi'} bus */
function diskArgs(disk, bus) {
  const drive = ['-drive', `file=${disk},if=none,id=disk,format=qcow2`];
  if (bus === 'virtio') return [...drive, '-device', 'virtio-blk-pci,drive=disk,bootindex=1'];
  if (bus === 'scsi') return [...drive, '-device', 'virtio-scsi-pci', '-device', 'scsi-hd,drive=disk,bootindex=1'];
  return [...drive, '-device', 'ide-hd,drive=disk,bootindex=1'];
}

/**
 * A unix socket that accepts one connection.
 * @param {string} path
 * @returns {Promise<{ connection: Promise<import('node:net').Socket> }>}
 */
async function listen(path) {
  const server = createServer();
  const connection = once(server, 'connection').then(([socket]) => {
    server.close();
    return socket;
  });
  server.listen(path);
  await once(server, 'listening');
  return { connection };
}
