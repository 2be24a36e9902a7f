import { t } from '@lingui/core/macro';
import type { MoveConcernView } from '@headgate/api-contracts';
import { useState } from 'react';
import { Switch } from '../../ui/inputs.js';

interface TpmLossSwitchProps {
  /** Of the plan; absent while it is being loaded. */
  refusals: readonly Pick<MoveConcernView, 'code'>[] | undefined;
  isAccepted: boolean;
  onChange: (isAccepted: boolean) => void;
}

/** Lets the user accept that the keys in a TPM are lost, when a plan refuses the move for that reason. */
export function TpmLossSwitch({ refusals, isAccepted, onChange }: TpmLossSwitchProps) {
  // The accepted loss is no refusal any more, and the switch must stay to take it back.
  const [isNeeded, setIsNeeded] = useState(false);
  if (!isNeeded && refusals?.some(({ code }) => code === 'TPM_STATE_LOST')) setIsNeeded(true);
  if (!isNeeded) return null;
  return (
    <Switch
      id="move-accept-tpm"
      label={t`Accept the loss of the keys in the TPM: the recovery keys are saved`}
      isChecked={isAccepted}
      onChange={onChange}
    />
  );
}
