import {
  MAX_COMMAND_OUTPUT_BYTES,
  type GuestCommandResult,
  type GuestControl,
  type InstanceRef,
} from '@headgate/domain-contracts';
import { missingRef, type BackendHarness, type ContractOptions, type OpenHarness } from './backend-harness.js';
import { contractTests } from './contract-tests.js';

export interface GuestControlContractOptions extends ContractOptions {
  /** An account of the guests. */
  readonly account?: string;
}

/** The rules for every `GuestControl`. Its guests have the usual programs of Unix. */
export function guestControlContract(
  adapter: string,
  open: OpenHarness,
  { timeoutMs = 30_000, account = 'root' }: GuestControlContractOptions = {},
): void {
  describe(`GuestControl, ${adapter}`, () => {
    let harness: BackendHarness;
    let control: GuestControl;
    let vm: InstanceRef;

    const { inTime } = contractTests(
      () => openWithoutTidying(open),
      timeoutMs,
      async (opened) => {
        ({ harness } = opened);
        control = harness.backend.require('guestControl');
        const recorder = await opened.recorder();
        vm = await harness.givenVm('Running', { booted: true });
        await recorder.untilVm(vm, ({ agentConnected }) => agentConnected);
      },
    );
    const run = (path: string, args: string[], limitMs = 60_000): Promise<GuestCommandResult> =>
      control.run(vm, { path, args, timeoutMs: limitMs });

    inTime('runs a program with exactly its arguments, without a shell', async () => {
      expect(await run('/bin/echo', ['two words', '$(id)', '"; reboot'])).toEqual({
        exitCode: 0,
        stdout: 'two words $(id) "; reboot\n',
        stderr: '',
        isTruncated: false,
      });
    });

    inTime('returns the exit code of a program that fails', async () => {
      expect(await run('/bin/false', [])).toMatchObject({ exitCode: 1 });
    });

    inTime('keeps the beginning of a long output', async () => {
      const { stdout, isTruncated } = await run('/usr/bin/seq', ['1', '100000']);
      expect([stdout.startsWith('1\n2\n3\n'), isTruncated]).toEqual([true, true]);
      expect(Buffer.byteLength(stdout)).toBeLessThanOrEqual(MAX_COMMAND_OUTPUT_BYTES);
    });

    inTime('refuses a program that the guest does not have', async () => {
      await expect(run('/nonexistent/program', [])).rejects.toMatchObject({ code: 'REJECTED_BY_BACKEND' });
    });

    inTime('waits no longer than the time limit', async () => {
      await expect(run('/bin/sleep', ['30'], 500)).rejects.toMatchObject({ code: 'BACKEND_TIMEOUT' });
      expect(await run('/bin/echo', ['next'])).toMatchObject({ stdout: 'next\n' });
    });

    inTime('sets the password of an account, and names no password in an error', async () => {
      await control.setPassword(vm, account, 'S3cret "quoted" \\ \' $x');
      const refused = control.setPassword(vm, 'no-such-account', 'hidden-password');
      await expect(refused).rejects.toMatchObject({
        code: 'REJECTED_BY_BACKEND',
        message: expect.not.stringContaining('hidden-password'),
      });
    });

    inTime('does nothing in a guest that is not running', async () => {
      const stopped = await harness.givenVm('Stopped');
      const command = { path: '/bin/echo', args: [], timeoutMs: 1000 };
      await expect(control.run(stopped, command)).rejects.toMatchObject({ code: 'GUEST_AGENT_UNREACHABLE' });
      await expect(control.setPassword(stopped, account, 'x')).rejects.toMatchObject({
        code: 'GUEST_AGENT_UNREACHABLE',
      });
    });

    inTime('knows no VM that does not exist', async () => {
      await expect(control.setPassword(missingRef(harness), account, 'x')).rejects.toMatchObject({
        code: 'INSTANCE_NOT_FOUND',
      });
    });
  });
}

/** All tests share one guest, because it takes long to boot. */
const openWithoutTidying = async (open: OpenHarness): Promise<BackendHarness> =>
  Object.create(await open(), { tidy: { value: undefined } }) as BackendHarness;
