import type { InstanceRef, VirtualMachine, VmSource } from '@headgate/domain-contracts';
import type { InventoryRecorder } from '../inventory-recorder.js';
import type { BackendHarness } from './backend-harness.js';
import { recordingReporter } from './recording-reporter.js';

const MIB = 1024 ** 2;

export interface CreatedVmOptions {
  readonly start?: boolean;
  readonly ref?: InstanceRef;
  /** The quick source of the harness by default. */
  readonly source?: VmSource;
  readonly cloudInit?: string;
}

/** Creates a VM through the adapter under test, so that its disks belong to it. */
export async function createdVm(
  harness: BackendHarness,
  recorder: InventoryRecorder,
  { start = false, ref = harness.freshRef(), source, cloudInit }: CreatedVmOptions = {},
): Promise<VirtualMachine> {
  const size = { cpu: 1, memoryBytes: 256 * MIB, diskBytes: harness.diskBytes ?? 1024 * MIB };
  const spec = {
    ref,
    source: source ?? (await harness.quickSource()),
    ...size,
    start,
    ...(cloudInit !== undefined && { cloudInit }),
  };
  const { remaining } = await harness.backend.require('provisioning').create(spec);
  await remaining?.(recordingReporter());
  return recorder.untilVm(ref, ({ status }) => status === (start ? 'Running' : 'Stopped'));
}
