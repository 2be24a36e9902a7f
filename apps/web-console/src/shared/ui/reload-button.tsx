import { t } from '@lingui/core/macro';
import { Button } from './button.js';
import { Icon } from './icon.js';

/** Loads the data of a page again. */
export const ReloadButton = ({ isLoading, onReload }: { isLoading: boolean; onReload: () => void }) => (
  <Button variant="secondary" isSmall icon={<Icon name="restart" />} isLoading={isLoading} onClick={onReload}>
    {t`Reload`}
  </Button>
);
