import { SystemClock, type Backend, type InstanceRef, type VmSource } from '@headgate/domain-contracts';
import type { BackendHarness } from '@headgate/testing';
import { __Name__Backend } from '../__name__-backend.js';
import { __NAME___TRAITS } from '../__name__-traits.js';

const CONTEXT = 'lab';

/** The adapter over an engine that belongs to the test alone. */
export class __Name__Harness implements BackendHarness {
  readonly backend = __Name__Backend.open({ context: CONTEXT, clock: new SystemClock() });
  private names = 0;

  freshRef(): InstanceRef {
    const namespace = __NAME___TRAITS.namespaces.default;
    return { kind: 'vm', context: CONTEXT, namespace, name: `vm-${++this.names}` };
  }

  async givenVm(state: 'Stopped' | 'Running' | 'Paused'): Promise<InstanceRef> {
    throw new Error(`Create a VM that is ${state} in the engine, without using the adapter.`);
  }

  async deleteExternally({ name }: InstanceRef): Promise<void> {
    throw new Error(`Delete ${name} in the engine, without using the adapter.`);
  }

  async quickSource(): Promise<VmSource> {
    throw new Error('Return a source that the engine can create a VM from quickly.');
  }

  async openUnreachable(): Promise<Backend> {
    return __Name__Backend.open({ context: 'gone', clock: new SystemClock() });
  }

  close(): Promise<void> {
    return this.backend.close();
  }
}
