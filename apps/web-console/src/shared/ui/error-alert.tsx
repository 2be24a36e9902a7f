import { Alert, Button } from '@patternfly/react-core';
import { messageOf } from '../api/api-error.js';

/** Says what failed and why, in the service's words. */
export function ErrorAlert({ title, error, onRetry }: { title: string; error: unknown; onRetry?: () => void }) {
  return (
    <div role="alert">
      <Alert
        variant="danger"
        isInline
        title={title}
        actionLinks={
          onRetry && (
            <Button variant="link" isInline onClick={onRetry}>
              Try again
            </Button>
          )
        }
      >
        {messageOf(error)}
      </Alert>
    </div>
  );
}
