import { t } from '@lingui/core/macro';
import { isAdministrator, useWhoami } from '../../../shared/queries/use-whoami.js';
import { PAGE_FOCUS } from '../../../shared/location/use-page-focus.js';
import { Data } from '../../../shared/ui/data.js';
import { usePageTitle } from '../../../shared/ui/use-page-title.js';
import { useLoginView } from '../api/login-requests.js';
import { AccountList } from './account-list.js';
import { OwnDevices } from './own-devices.js';
import { OwnPasskeys } from './own-passkeys.js';
import { OwnPassword } from './own-password.js';
import { OwnSessions } from './own-sessions.js';

/** The sessions, programs, passkeys and the password of the user, and the accounts of all users for administrators. */
export function AccountPage() {
  usePageTitle(t`Account`);
  const { data: whoami } = useWhoami();
  const { data: view } = useLoginView();
  // The logins of providers have a colon.
  const hasPassword = whoami !== undefined && !whoami.login.includes(':');
  return (
    <div className="hg-page">
      <h1 className="hg-page-title hg-gap-below" {...PAGE_FOCUS}>
        {t`Account`}
      </h1>
      {whoami && whoami.session === undefined && (
        <p className="hg-note">{t`You have not logged in here, so there is nothing to set.`}</p>
      )}
      {whoami && whoami.session === undefined && whoami.login !== '' && <OwnDevices />}
      {whoami?.session !== undefined && (
        <>
          <p className="hg-gap-below">
            <Data>{whoami.name || whoami.login}</Data>
            {whoami.groups !== undefined && whoami.groups.length > 0 && (
              <span className="hg-note">
                {' '}
                {t`Groups:`} <Data>{whoami.groups.join(', ')}</Data>
              </span>
            )}
          </p>
          <OwnSessions />
          <OwnDevices />
          {hasPassword && view?.passkeys && <OwnPasskeys />}
          {hasPassword && <OwnPassword />}
          {isAdministrator(whoami) && <AccountList own={whoami.login} />}
        </>
      )}
    </div>
  );
}
