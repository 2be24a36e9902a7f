import { t } from '@lingui/core/macro';
import { Alert } from '../ui/alert.js';
import { Button } from '../ui/button.js';

interface StalePlanProps {
  title: string;
  isLoading: boolean;
  onRehearse: () => void;
}

/** A plan for another state must not be run. */
export const StalePlan = ({ title, isLoading, onRehearse }: StalePlanProps) => (
  <div role="alert">
    <Alert
      variant="warning"
      title={title}
      actions={
        <Button isSmall variant="secondary" isLoading={isLoading} onClick={onRehearse}>
          {t`Rehearse again`}
        </Button>
      }
    />
  </div>
);
