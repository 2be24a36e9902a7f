import { ApiError } from '../../src/shared/api/api-error.js';
import { Alert } from '../../src/shared/ui/alert.js';
import { Button } from '../../src/shared/ui/button.js';
import { EmptyState } from '../../src/shared/ui/empty-state.js';
import { ErrorAlert } from '../../src/shared/ui/error-alert.js';
import { useNotify } from '../../src/shared/ui/notifications.js';
import { doNothing, Section, State } from '../demo.js';

const VARIANTS = {
  success: 'web-1 has started',
  info: 'web-1 is moving',
  warning: 'web-1 restarts',
  danger: 'web-1 failed',
};

export function Messages() {
  const notify = useNotify();
  return (
    <Section title="Messages">
      {Object.entries(VARIANTS).map(([variant, title]) => (
        <State key={variant} name={`Message, ${variant}`}>
          <Alert variant={variant as keyof typeof VARIANTS} title={title} onDismiss={doNothing}>
            Its disk is on another node.
          </Alert>
        </State>
      ))}
      <State name="Message, without a box">
        <Alert isPlain variant="warning" title="The guest is interrupted." />
      </State>
      <State name="Error of the service">
        <ErrorAlert
          title="web-1 was not started"
          error={new ApiError(409, 'BUSY', 'Another task uses this VM.')}
          onRetry={doNothing}
        />
      </State>
      <State name="Notice">
        <Button
          variant="secondary"
          onClick={() =>
            notify({ variant: 'success', title: 'web-1 has moved', action: { label: 'Undo', run: doNothing } })
          }
        >
          Show a notice
        </Button>
        <Button
          variant="secondary"
          onClick={() => notify({ variant: 'danger', title: 'web-2 was not moved', body: 'Its node is full.' })}
        >
          Show a failure
        </Button>
      </State>
      <State name="Nothing to show">
        <EmptyState
          level={2}
          icon="search"
          title="No matches"
          actions={<Button variant="link">Clear the filters</Button>}
        >
          No VM matches these filters.
        </EmptyState>
      </State>
    </Section>
  );
}
