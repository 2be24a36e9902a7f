import type { StatusView, VmView } from '@headgate/api-contracts';
import { instancePath } from '../api/instance-path.js';
import { messageOf } from '../api/api-error.js';
import { postJson } from '../api/request.js';
import type { PowerAction } from './power-actions.js';

export function runPowerAction(vm: VmView, action: PowerAction): Promise<StatusView> {
  const forced = action === 'force-stop';
  return postJson<StatusView>(`${instancePath('vms', vm)}/${forced ? 'stop' : action}`, {
    query: { context: vm.context, ...(forced ? { force: true } : {}) },
  });
}

export interface MemberResult {
  readonly vm: VmView;
  /** Absent when it worked. */
  readonly error?: string;
}

/** The service answers each in milliseconds; more at once would only queue in the browser. */
const AT_ONCE = 6;

/** One member's failure is that member's answer: it never stops the others. Results come in the order of the members. */
export async function runForAll(
  members: readonly VmView[],
  run: (vm: VmView) => Promise<unknown>,
  onProgress: (finished: number) => void = () => undefined,
): Promise<MemberResult[]> {
  const results: MemberResult[] = new Array<MemberResult>(members.length);
  let next = 0;
  let finished = 0;
  const worker = async (): Promise<void> => {
    for (let index = next++; index < members.length; index = next++) {
      const vm = members[index] as VmView;
      results[index] = await run(vm).then(
        () => ({ vm }),
        (error: unknown) => ({ vm, error: messageOf(error) }),
      );
      onProgress(++finished);
    }
  };
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, members.length) }, worker));
  return results;
}
