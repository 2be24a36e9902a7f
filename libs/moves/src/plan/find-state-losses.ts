import { loss, type IngestPlan, type Loss, type PortableVm } from '@headgate/domain-contracts';
import type { Concerns } from './move-plan.js';
import type { MoveRequest } from './move-request.js';

export interface StateLosses {
  readonly losses: readonly Loss[];
  readonly copiesFirmwareVariables: boolean;
}

/**
 * Finds out which of the states outside of the disks reach the copy. Losing secrets is refused unless the caller
 * accepts it.
 */
export function findStateLosses(
  {
    vm,
    received,
    request,
  }: {
    readonly vm: PortableVm;
    readonly received: Pick<IngestPlan, 'firmwareVariables'>;
    readonly request: Pick<MoveRequest, 'acceptLoss'>;
  },
  concerns: Concerns,
): StateLosses {
  const losses: Loss[] = [];
  const problem = variablesProblem(vm, received);
  if (problem !== undefined) losses.push(loss('firmware', `The variables of the firmware: ${problem}`));
  if (vm.tpm && vm.hasTpmState === true) {
    losses.push(
      loss(
        'tpm',
        'The state of the TPM: keys that it protects, such as those of BitLocker, can not be used in the copy.',
        'critical',
      ),
    );
    if (!request.acceptLoss?.includes('tpm'))
      concerns.refuse(
        'source',
        'TPM_STATE_LOST',
        'The state of the TPM does not reach the copy, so a disk that is encrypted with its keys can not be opened there.',
        'Save the recovery keys or suspend the encryption in the guest, and add "tpm" to acceptLoss.',
      );
  }
  return { losses, copiesFirmwareVariables: problem === undefined && vm.firmwareVariables !== undefined };
}

/** Why the variables of the firmware do not reach the copy; undefined if they do, or if there are none. */
function variablesProblem(
  { firmware, firmwareVariables }: PortableVm,
  received: Pick<IngestPlan, 'firmwareVariables'>,
): string | undefined {
  if (firmware === 'bios' || firmwareVariables === undefined) return undefined;
  const problem = 'problem' in firmwareVariables ? firmwareVariables.problem : received.firmwareVariables;
  return problem === true ? undefined : `${problem} The copy starts from its default boot entry.`;
}
