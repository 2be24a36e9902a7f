import type { InstanceRef, TaskReporter } from '@headgate/domain-contracts';
import { recordingReporter } from '@headgate/testing';
import type { LibvirtBackend } from '../libvirt-backend.js';
import type { LibvirtPair } from './libvirt-pair.js';

export interface SlowMigration {
  readonly end: Promise<void>;
  /** Cancels it. @returns when it has ended */
  cancel(): Promise<void>;
}

/** Begins a migration from the first machine to the second that needs minutes. @returns when its copy has begun */
export async function beginSlowMigration(
  pair: LibvirtPair,
  backend: LibvirtBackend,
  ref: InstanceRef,
): Promise<SlowMigration> {
  await pair.machines[0].virsh('migrate-setspeed', ref.name, '1');
  const cancel = new AbortController();
  const begun = Promise.withResolvers<void>();
  const report: TaskReporter = { ...recordingReporter(cancel.signal), progress: () => begun.resolve() };
  const work = await backend.require('migration').migrate(ref, pair.machines[1].name);
  const end = work(report);
  await Promise.race([begun.promise, end]);
  return {
    end,
    cancel: async () => {
      cancel.abort(new Error('canceled'));
      await expect(end).rejects.toThrow('canceled');
    },
  };
}
