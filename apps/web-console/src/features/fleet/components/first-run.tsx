import { Button } from '../../../shared/ui/button.js';
import { EmptyState } from '../../../shared/ui/empty-state.js';

/** The first thing a new operator sees, with one thing to do. */
export function FirstRun({ onCreate, refusal }: { onCreate: () => void; refusal?: string | undefined }) {
  return (
    <EmptyState
      title="No virtual machines yet"
      level={2}
      icon="machine"
      actions={
        <>
          <Button onClick={onCreate} isDisabled={refusal !== undefined}>
            Create VM
          </Button>
          {refusal && <p>{refusal}</p>}
        </>
      }
    >
      Create your first one. The smallest image of the catalog is preselected, so you only need to enter a name.
    </EmptyState>
  );
}
