import { t } from '@lingui/core/macro';
import { PAGE_FOCUS } from '../../../shared/location/use-page-focus.js';
import { isAdministrator, useWhoami } from '../../../shared/queries/use-whoami.js';
import { usePageTitle } from '../../../shared/ui/use-page-title.js';
import { ChannelList } from './channel-list.js';
import { RuleList } from './rule-list.js';
import { SentMessages } from './sent-messages.js';

/** The messages about problems: rules, the channels that they send to, and the outcome of each message. */
export function MessagesPage() {
  usePageTitle(t`Messages`);
  const { data: whoami } = useWhoami();
  return (
    <div className="hg-page">
      <h1 className="hg-page-title" {...PAGE_FOCUS}>
        {t`Messages`}
      </h1>
      <p className="hg-note hg-gap-below">
        {t`Problems are reported to people by mail, ntfy or a webhook. A rule sees what its owner may read.`}
      </p>
      <RuleList />
      <ChannelList isAdmin={isAdministrator(whoami)} />
      <SentMessages />
    </div>
  );
}
