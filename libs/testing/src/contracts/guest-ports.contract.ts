import type { Backend, GuestPorts } from '@headgate/domain-contracts';
import { readUntil } from '../read-until.js';
import { missingRef, type BackendHarness, type ContractOptions, type OpenHarness } from './backend-harness.js';
import { contractTests } from './contract-tests.js';

const SENT = 'bytes of a connection\n';
const MUCH_BYTES = 4 * 1024 * 1024;
/** The port of the discard protocol, which guests do not serve. Source: RFC 863. */
const PORT = 9;

/** The rules for every `GuestPorts`. */
export function guestPortsContract(
  adapter: string,
  open: OpenHarness,
  { timeoutMs = 30_000 }: ContractOptions = {},
): void {
  describe(`GuestPorts, ${adapter}`, () => {
    let harness: BackendHarness;
    let ports: GuestPorts;
    let unreachable: Backend;
    const { inTime, afterTest } = contractTests(open, timeoutMs, async (opened) => {
      ({ harness } = opened);
      ports = harness.backend.require('guestPorts');
      unreachable = await opened.unreachable();
    });

    inTime('carries bytes in both directions, on several connections at once', async () => {
      const echo = await harness.givenEcho?.();
      if (!echo) return expectRefused();
      const connections = await Promise.all([1, 2].map(() => ports.connect(echo.ref, echo.port)));
      for (const connection of connections) afterTest(() => connection.destroy());
      for (const [index, connection] of connections.entries()) {
        connection.write(`${index} ${SENT}`);
        expect(await readUntil(connection, /connection\n/)).toBe(`${index} ${SENT}`);
      }
    });

    inTime('waits for a reader, and loses nothing', async () => {
      const echo = await harness.givenEcho?.();
      if (!echo) return;
      const connection = await ports.connect(echo.ref, echo.port);
      afterTest(() => connection.destroy());
      const sent = Buffer.alloc(MUCH_BYTES, 'the bytes of a large file ');
      const parts: Buffer[] = [];
      let length = 0;
      const received = new Promise<void>((resolve, reject) => {
        connection.once('error', reject).on('data', (part: Buffer) => {
          parts.push(part);
          length += part.length;
          if (length >= MUCH_BYTES) resolve();
        });
      });
      const ended = new Promise<void>((resolve) => connection.once('end', resolve));
      connection.write(sent);
      if (ports.passesEnd) connection.end();
      await received;
      expect(Buffer.concat(parts).equals(sent)).toBe(true);
      if (ports.passesEnd) await ended;
    });

    inTime('refuses a port at which no program accepts connections', async () => {
      const echo = await harness.givenEcho?.();
      if (!echo) return;
      await expect(ports.connect(echo.ref, echo.closedPort)).rejects.toMatchObject({
        code: 'WRONG_STATE',
        message: expect.stringContaining(String(echo.closedPort)),
      });
    });

    inTime('refuses the ports of a VM that is stopped or paused', async () => {
      for (const state of ['Stopped', 'Paused'] as const) {
        const vm = await harness.givenVm(state);
        await expect(ports.connect(vm, PORT)).rejects.toMatchObject({ code: 'WRONG_STATE' });
      }
    });

    inTime('refuses the ports of a VM that does not exist', async () => {
      await expect(ports.connect(missingRef(harness), PORT)).rejects.toMatchObject({ code: 'INSTANCE_NOT_FOUND' });
    });

    inTime('reports a backend that does not answer', async () => {
      const ref = { ...missingRef(harness), context: unreachable.context };
      await expect(unreachable.require('guestPorts').connect(ref, PORT)).rejects.toMatchObject({
        code: expect.stringMatching(/^BACKEND_(UNREACHABLE|TIMEOUT)$/),
      });
    });

    /** Guests without an address, or with a network that nothing is known about. */
    const expectRefused = async (): Promise<void> => {
      const vm = await harness.givenVm('Running');
      await expect(ports.connect(vm, PORT)).rejects.toMatchObject({
        code: expect.stringMatching(/^(NOT_SUPPORTED|WRONG_STATE|BACKEND_TIMEOUT)$/),
      });
    };
  });
}
