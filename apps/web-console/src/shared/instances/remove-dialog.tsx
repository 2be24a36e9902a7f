import { instancePath, type InstanceAddress, type InstanceCollection } from '../api/instance-path.js';
import { deleteJson } from '../api/request.js';
import { removeInstance } from './instance-requests.js';
import { PlanDialog } from '../plans/plan-dialog.js';

interface RemoveDialogProps {
  collection: InstanceCollection;
  address: InstanceAddress;
  /** Why the user has to type the name; undefined when a click is enough. */
  caution?: string | undefined;
  onClose: () => void;
  onRemoved: () => void;
}

/** Lists the objects that will be deleted and kept before anything is deleted. */
export function RemoveDialog({ collection, address, caution, onClose, onRemoved }: RemoveDialogProps) {
  const { name, context } = address;
  return (
    <PlanDialog
      title={`Delete ${name}?`}
      label="Delete"
      failure={`Couldn't delete ${name}`}
      isDanger
      preview={(signal) => deleteJson(instancePath(collection, address), { query: { context, dryRun: true }, signal })}
      run={() => removeInstance(collection, address)}
      confirmation={caution === undefined ? undefined : { text: name, reason: caution }}
      onClose={onClose}
      onDone={onRemoved}
    />
  );
}
