import { Button } from '../ui/button.js';
import { Dialog } from '../ui/dialog.js';
import { ACTION_EFFECTS } from './action-effects.js';
import { powerWording } from './power-wording.js';
import type { PowerRequest } from './use-power-action.js';

interface ConfirmPowerProps extends PowerRequest {
  onClose: () => void;
  onConfirm: () => void;
}

/** Names the instance and the consequences before a guest is interrupted. Enter confirms, Escape cancels. */
export function ConfirmPower({ instance, action, onClose, onConfirm }: ConfirmPowerProps) {
  const { label, consequence } = powerWording(instance, action);
  const isDanger = ACTION_EFFECTS[action] === 'destroys';
  return (
    <Dialog
      title={`${label} ${instance.name}?`}
      description={`${instance.namespace} in ${instance.context}`}
      isDanger={isDanger}
      onClose={onClose}
      onSubmit={onConfirm}
      footer={
        <>
          <Button type="submit" data-autofocus variant={isDanger ? 'danger' : 'primary'}>
            {label}
          </Button>
          <Button variant="link" onClick={onClose}>
            Cancel
          </Button>
        </>
      }
    >
      {consequence}
    </Dialog>
  );
}
