import { t } from '@lingui/core/macro';
import { Button } from '../../ui/button.js';
import { Icon } from '../../ui/icon.js';

const HOUR_MS = 3_600_000;

/** Shows the list as it was an hour ago, where another moment can be chosen. */
export function PastButton({ onMoment }: { onMoment: (at: string) => void }) {
  const label = t`Show the list as it was`;
  return (
    <Button
      variant="secondary"
      icon={<Icon name="hourglass" />}
      aria-label={label}
      title={label}
      onClick={() => onMoment(new Date(Date.now() - HOUR_MS).toISOString())}
    />
  );
}
