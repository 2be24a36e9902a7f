import { t } from '@lingui/core/macro';
import { Button } from '../../ui/button.js';
import { EmptyState } from '../../ui/empty-state.js';

export function NoMatch({ total, onClear }: { total: string; onClear: () => void }) {
  return (
    <EmptyState
      title={t`No results found`}
      level={2}
      actions={
        <Button variant="link" onClick={onClear}>
          {t`Clear filters`}
        </Button>
      }
    >
      {t`None of the ${total} match your search and filters.`}
    </EmptyState>
  );
}
