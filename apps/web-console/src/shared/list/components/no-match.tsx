import { Button } from '../../ui/button.js';
import { EmptyState } from '../../ui/empty-state.js';

export function NoMatch({ total, onClear }: { total: string; onClear: () => void }) {
  return (
    <EmptyState
      title="No results found"
      level={2}
      actions={
        <Button variant="link" onClick={onClear}>
          Clear filters
        </Button>
      }
    >
      None of the {total} match your search and filters.
    </EmptyState>
  );
}
