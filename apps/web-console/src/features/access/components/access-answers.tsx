import { t } from '@lingui/core/macro';
import type { AccessAnswerView, AccessView } from '@headgate/api-contracts';
import { accessActions } from '../../../shared/texts/action-names.js';
import { ServiceText } from '../../../shared/ui/service-text.js';
import { StatusLabel } from '../../../shared/ui/status-label.js';
import type { StatusWording } from '../../../shared/ui/status-tone.js';
import { Table } from '../../../shared/ui/table.js';
import { roleNames, scopeText, subjectText } from '../role-wording.js';

/** What a user or a group may do with an object: each action with the reason. */
export function AccessAnswers({ access: { user, group, object, answers } }: { access: AccessView }) {
  const who = group !== undefined ? subjectText({ group }) : user ? subjectText({ user }) : t`A user without a login`;
  return (
    <>
      <p aria-live="polite">{object === '' ? t`${who}, with everything:` : t`${who}, with ${object}:`}</p>
      <Table label={t`Rights`} columns={[t`Action`, t`Allowed`, t`Reason`]}>
        {answers.map((answer) => (
          <tr key={answer.action}>
            <td>{accessActions()[answer.action]}</td>
            <td>
              <StatusLabel wording={wordingOf(answer.allowed)} />
            </td>
            <td>
              {reasonOf(answer)}
              {answer.refusal !== undefined && (
                <p className="hg-note">
                  <ServiceText>{answer.refusal}</ServiceText>
                </p>
              )}
            </td>
          </tr>
        ))}
      </Table>
    </>
  );
}

const wordingOf = (isAllowed: boolean): StatusWording =>
  isAllowed ? { tone: 'success', icon: 'check', words: t`Yes` } : { tone: 'neutral', icon: 'minus', words: t`No` };

function reasonOf({ by, role, allowed }: AccessAnswerView): string {
  if (by === 'allowlist') return t`On the list of administrators in the configuration file`;
  if (by === 'account')
    return allowed ? t`The account is that of an administrator` : t`The account can't log in any more`;
  if (by === 'default') return t`The rights of everyone`;
  if (!role) return t`No role permits this`;
  const parts = [roleNames()[role.role], subjectText(role.subject), scopeText(role.scope)];
  return parts.join(' · ');
}
