import { Button, Modal, ModalBody, ModalFooter, ModalHeader } from '@patternfly/react-core';
import { powerWording } from './power-wording.js';
import type { PowerRequest } from './use-power-action.js';

interface ConfirmPowerProps extends PowerRequest {
  onClose: () => void;
  onConfirm: () => void;
}

/** Says who is meant and what it does to him, before a guest is disturbed. Enter confirms, Escape does not. */
export function ConfirmPower({ instance, action, onClose, onConfirm }: ConfirmPowerProps) {
  const { label, cost } = powerWording(instance, action);
  return (
    <Modal isOpen variant="small" onClose={onClose} aria-labelledby="power-title" elementToFocus="#power-confirm">
      <ModalHeader
        title={`${label}: ${instance.name}?`}
        labelId="power-title"
        description={`${instance.namespace} in ${instance.context}`}
        {...(action === 'force-stop' ? { titleIconVariant: 'warning' as const } : {})}
      />
      <ModalBody>{cost}</ModalBody>
      <ModalFooter>
        <Button id="power-confirm" variant={action === 'force-stop' ? 'danger' : 'primary'} onClick={onConfirm}>
          {label}
        </Button>
        <Button variant="link" onClick={onClose}>
          Cancel
        </Button>
      </ModalFooter>
    </Modal>
  );
}
