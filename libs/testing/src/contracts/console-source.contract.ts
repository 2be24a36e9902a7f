import type { ConsoleSource } from '@headgate/domain-contracts';
import { readUntil } from '../read-until.js';
import { missingRef, type BackendHarness, type ContractOptions, type OpenHarness } from './backend-harness.js';
import { contractTests } from './contract-tests.js';

export interface ConsoleContractOptions extends ContractOptions {
  /** Text that a started guest eventually prints on its serial line. */
  readonly greeting: RegExp;
  /** Input that makes the guest print it again, on engines that keep no earlier output. */
  readonly wake?: string;
}

/** The rules for every `ConsoleSource`. */
export function consoleSourceContract(
  adapter: string,
  open: OpenHarness,
  { timeoutMs = 30_000, greeting, wake }: ConsoleContractOptions,
): void {
  describe(`ConsoleSource, ${adapter}`, () => {
    let harness: BackendHarness;
    let consoles: ConsoleSource;
    const { inTime, afterTest } = contractTests(open, timeoutMs, (opened) => {
      ({ harness } = opened);
      consoles = harness.backend.require('consoles');
    });

    inTime('opens the graphical console of a running VM, which speaks RFB', async () => {
      const stream = await consoles.openVnc(await harness.givenVm('Running'));
      afterTest(() => stream.destroy());
      expect(await readUntil(stream, /\n/)).toMatch(/^RFB 003\./);
    });

    inTime('opens the serial console of a running VM with its earlier output', async () => {
      const { stream, backlog } = await consoles.openSerial(await harness.givenVm('Running', { booted: true }));
      afterTest(() => stream.destroy());
      if (wake !== undefined) stream.write(wake);
      const printed = backlog.toString('latin1');
      if (!greeting.test(printed)) expect(await readUntil(stream, greeting, printed)).toMatch(greeting);
    });

    inTime('opens the serial console again after it was closed', async () => {
      const vm = await harness.givenVm('Running', { booted: true });
      const first = await consoles.openSerial(vm);
      first.stream.destroy();
      const { stream, backlog } = await consoles.openSerial(vm);
      afterTest(() => stream.destroy());
      if (wake !== undefined) stream.write(wake);
      const printed = backlog.toString('latin1');
      if (!greeting.test(printed)) await readUntil(stream, greeting, printed);
    });

    inTime('refuses the consoles of a stopped VM', async () => {
      const vm = await harness.givenVm('Stopped');
      await expect(consoles.openVnc(vm)).rejects.toMatchObject({ code: 'WRONG_STATE' });
      await expect(consoles.openSerial(vm)).rejects.toMatchObject({ code: 'WRONG_STATE' });
    });

    inTime('refuses the consoles of a VM that does not exist', async () => {
      await expect(consoles.openVnc(missingRef(harness))).rejects.toMatchObject({ code: 'INSTANCE_NOT_FOUND' });
      await expect(consoles.openSerial(missingRef(harness))).rejects.toMatchObject({ code: 'INSTANCE_NOT_FOUND' });
    });

    inTime('has no shell for a VM', async () => {
      const vm = await harness.givenVm('Stopped');
      await expect(consoles.openShell(vm, { columns: 80, rows: 24 })).rejects.toMatchObject({
        code: expect.stringMatching(/^(NOT_SUPPORTED|INSTANCE_NOT_FOUND)$/),
      });
    });
  });
}
