import type { PlanView } from '@headgate/api-contracts';
import { instancePath, type InstanceAddress, type InstanceCollection } from '../api/instance-path.js';
import { deleteJson } from '../api/request.js';
import { removeInstance } from './remove-instance.js';
import { PlanDialog } from '../plans/plan-dialog.js';

interface RemoveDialogProps {
  collection: InstanceCollection;
  address: InstanceAddress;
  /** Why the name must be typed; undefined for what is stopped and not protected. */
  caution?: string | undefined;
  onClose: () => void;
  onRemoved: () => void;
}

/** Says exactly what goes and what stays before anything goes. */
export function RemoveDialog({ collection, address, caution, onClose, onRemoved }: RemoveDialogProps) {
  const { name, context } = address;
  return (
    <PlanDialog
      title={`Delete ${name}?`}
      label="Delete"
      failure={`${name} was not deleted`}
      isDanger
      rehearse={(signal) =>
        deleteJson<PlanView>(instancePath(collection, address), { query: { context, dryRun: true }, signal })
      }
      run={() => removeInstance(collection, address)}
      confirmation={caution === undefined ? undefined : { text: name, reason: caution }}
      onClose={onClose}
      onDone={onRemoved}
    />
  );
}
