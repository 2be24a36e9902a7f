import { t } from '@lingui/core/macro';
import { isAdministrator, useWhoami } from '../../../shared/queries/use-whoami.js';
import { PAGE_FOCUS } from '../../../shared/location/use-page-focus.js';
import { usePageTitle } from '../../../shared/ui/use-page-title.js';
import { TokenList } from './token-list.js';
import { WebhookList } from './webhook-list.js';

/**
 * Where other programs connect: the API tokens with which they call, for administrators, and the webhooks by which they
 * are called.
 */
export function IntegrationsPage() {
  usePageTitle(t`Integrations`);
  const { data: whoami, isPending } = useWhoami();
  return (
    <div className="hg-page">
      <h1 className="hg-page-title hg-gap-below" {...PAGE_FOCUS}>
        {t`Integrations`}
      </h1>
      {isAdministrator(whoami) && <TokenList />}
      {/* Both begin to load at the same time, so that nothing moves when the tokens appear. */}
      {!isPending && <WebhookList />}
    </div>
  );
}
