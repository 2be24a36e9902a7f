import { Button, EmptyState, EmptyStateActions, EmptyStateBody, EmptyStateFooter } from '@patternfly/react-core';
import { Icon } from '../../../shared/ui/icon.js';

const BigMachine = () => <Icon name="machine" className="hg-big-icon" />;

/** What a new operator sees first: one thing to do. */
export function FirstRun({ onCreate, refusal }: { onCreate: () => void; refusal?: string | undefined }) {
  return (
    <EmptyState titleText="No instances yet" headingLevel="h2" icon={BigMachine}>
      <EmptyStateBody>
        Create the first one. The catalog&apos;s smallest guest is chosen already; it only needs a name.
      </EmptyStateBody>
      <EmptyStateFooter>
        <EmptyStateActions>
          <Button size="lg" onClick={onCreate} isDisabled={refusal !== undefined}>
            Create VM
          </Button>
        </EmptyStateActions>
        {refusal && <p>{refusal}</p>}
      </EmptyStateFooter>
    </EmptyState>
  );
}
