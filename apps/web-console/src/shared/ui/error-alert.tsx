import { t } from '@lingui/core/macro';
import { ApiError, messageOf } from '../api/api-error.js';
import { Alert } from './alert.js';
import { Button } from './button.js';
import { ServiceText } from './service-text.js';

/** An operation that failed, with the service's own message. */
export function ErrorAlert({ title, error, onRetry }: { title: string; error: unknown; onRetry?: () => void }) {
  return (
    <div role="alert">
      <Alert
        variant="danger"
        title={title}
        actions={
          onRetry && (
            <Button variant="link" onClick={onRetry}>
              {t`Try again`}
            </Button>
          )
        }
      >
        {error instanceof ApiError && error.isOfService ? (
          <ServiceText>{messageOf(error)}</ServiceText>
        ) : (
          messageOf(error)
        )}{' '}
        {error instanceof ApiError && (
          <small className="hg-api-code" translate="no">
            {error.code}
          </small>
        )}
      </Alert>
    </div>
  );
}
