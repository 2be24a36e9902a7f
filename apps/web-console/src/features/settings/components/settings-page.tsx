import { t } from '@lingui/core/macro';
import { PAGE_FOCUS } from '../../../shared/location/use-page-focus.js';
import { usePageTitle } from '../../../shared/ui/use-page-title.js';
import { ContextList } from './context-list.js';

/** The settings of the service that administrators change while it runs. */
export function SettingsPage() {
  usePageTitle(t`Settings`);
  return (
    <div className="hg-page">
      <h1 className="hg-page-title hg-gap-below" {...PAGE_FOCUS}>
        {t`Settings`}
      </h1>
      <ContextList />
    </div>
  );
}
