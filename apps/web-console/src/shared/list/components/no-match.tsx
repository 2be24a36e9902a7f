import { Button, EmptyState, EmptyStateBody, EmptyStateFooter } from '@patternfly/react-core';

/** Nothing matches what was asked for. */
export function NoMatch({ what, onClear }: { what: string; onClear: () => void }) {
  return (
    <EmptyState titleText="Nothing matches" headingLevel="h2" variant="sm">
      <EmptyStateBody>None of {what} has all these words and filters.</EmptyStateBody>
      <EmptyStateFooter>
        <Button variant="link" onClick={onClear}>
          Clear filters
        </Button>
      </EmptyStateFooter>
    </EmptyState>
  );
}
