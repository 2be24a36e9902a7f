import { t } from '@lingui/core/macro';
import { PAGE_FOCUS } from '../../../shared/location/use-page-focus.js';
import { isAdministrator, useWhoami } from '../../../shared/queries/use-whoami.js';
import { ErrorAlert } from '../../../shared/ui/error-alert.js';
import { Skeleton } from '../../../shared/ui/loading.js';
import { usePageTitle } from '../../../shared/ui/use-page-title.js';
import { AccessQuestions } from './access-questions.js';
import { RoleList } from './role-list.js';

/** The roles of users and groups for administrators, and for everyone what they may do and why. */
export function AccessPage() {
  usePageTitle(t`Access`);
  const { data: whoami, error, refetch } = useWhoami();
  const isAdmin = isAdministrator(whoami);
  return (
    <div className="hg-page">
      <h1 className="hg-page-title hg-gap-below" {...PAGE_FOCUS}>
        {t`Access`}
      </h1>
      {!whoami && error && (
        <ErrorAlert title={t`Couldn't load your rights`} error={error} onRetry={() => void refetch()} />
      )}
      {!whoami && !error && <Skeleton height="6rem" label={t`Loading your rights`} />}
      {whoami && !isAdmin && (
        <p className="hg-note hg-gap-below">
          {t`Administrators of the service assign roles to users and groups. You see what your own roles permit.`}
        </p>
      )}
      {isAdmin && <RoleList />}
      {whoami && <AccessQuestions isAdmin={isAdmin} />}
    </div>
  );
}
