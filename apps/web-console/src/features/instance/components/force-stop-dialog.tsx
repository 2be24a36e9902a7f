import { Button, Modal, ModalBody, ModalFooter, ModalHeader } from '@patternfly/react-core';
import type { VmView } from '@headgate/api-contracts';

/** Pulling the plug may cost data, so it is asked for twice. */
export function ForceStopDialog({
  vm,
  onClose,
  onConfirm,
}: {
  vm: VmView;
  onClose: () => void;
  onConfirm: () => void;
}) {
  return (
    <Modal isOpen variant="small" onClose={onClose} aria-labelledby="force-title">
      <ModalHeader title={`Force ${vm.name} to stop?`} labelId="force-title" titleIconVariant="warning" />
      <ModalBody>
        This pulls the plug: the guest has no chance to write what it still holds in memory. «Shut down» asks it
        instead.
      </ModalBody>
      <ModalFooter>
        <Button variant="danger" onClick={onConfirm}>
          Force stop
        </Button>
        <Button variant="link" onClick={onClose}>
          Cancel
        </Button>
      </ModalFooter>
    </Modal>
  );
}
