import { t } from '@lingui/core/macro';
import type { RoleAssignmentView } from '@headgate/api-contracts';
import { Data } from '../../../shared/ui/data.js';
import { ReasonedButton } from '../../../shared/ui/reasoned-button.js';
import { StatusLabel } from '../../../shared/ui/status-label.js';
import { Timestamp } from '../../../shared/ui/timestamp.js';
import { roleNames, scopeText, subjectText } from '../role-wording.js';

interface RoleRowProps {
  role: RoleAssignmentView;
  onChange: () => void;
  onRemove: () => void;
}

/** A role of a user or a group. Those of the configuration file can't be changed here. */
export function RoleRow({ role: assignment, onChange, onRemove }: RoleRowProps) {
  const { subject, role, scope, source, createdAt, createdBy } = assignment;
  const who = subjectText(subject);
  const place = scopeText(scope);
  const isConfigured = source === 'configuration';
  const reason = isConfigured
    ? t`This role is in the configuration file: change it there, and restart the service.`
    : undefined;
  return (
    <tr>
      <td>{who}</td>
      <td>{roleNames()[role]}</td>
      <td>
        {place}
        {assignment.void && (
          <>
            <br />
            <StatusLabel wording={{ tone: 'warning', icon: 'triangle', words: t`Void` }} />{' '}
            <span className="hg-note">{t`The place does not exist any more, so the role gives no rights.`}</span>
          </>
        )}
      </td>
      <td>{isConfigured ? t`Configuration file` : t`Assigned`}</td>
      <td>
        {createdAt === null ? '–' : <Timestamp at={createdAt} />}
        {createdBy !== '' && (
          <>
            <br />
            <span className="hg-note">
              <Data>{createdBy}</Data>
            </span>
          </>
        )}
      </td>
      <td>
        <ReasonedButton
          variant="link"
          aria-label={t`Change the role of ${who}: ${place}`}
          reason={reason}
          onClick={onChange}
        >
          {t`Change`}
        </ReasonedButton>
        <ReasonedButton
          variant="link"
          aria-label={t`Remove the role of ${who}: ${place}`}
          reason={reason}
          onClick={onRemove}
        >
          {t`Remove`}
        </ReasonedButton>
      </td>
    </tr>
  );
}
