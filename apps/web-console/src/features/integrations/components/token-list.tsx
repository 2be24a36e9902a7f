import { t } from '@lingui/core/macro';
import { useQueryClient } from '@tanstack/react-query';
import type { CreatedTokenView, TokenView } from '@headgate/api-contracts';
import { useState } from 'react';
import { PlanPanel } from '../../../shared/plans/plan-panel.js';
import { usePlannedChange } from '../../../shared/plans/use-planned-change.js';
import { Alert } from '../../../shared/ui/alert.js';
import { ListStates } from '../../../shared/ui/list-states.js';
import { ReasonedButton } from '../../../shared/ui/reasoned-button.js';
import { StatusLabel } from '../../../shared/ui/status-label.js';
import { Table } from '../../../shared/ui/table.js';
import { Timestamp } from '../../../shared/ui/timestamp.js';
import {
  previewAgent,
  previewRevocation,
  previewRotation,
  revokeToken,
  rotateToken,
  switchAgent,
  TOKENS_KEY,
  useTokens,
} from '../api/token-requests.js';
import { tokenActions } from '../../../shared/texts/action-names.js';
import { approvals } from './leash-fields.js';
import { TokenForm } from './token-form.js';
import { scopeText } from './scope-text.js';
import { perLanguage } from '../../../shared/texts/per-language.js';

const columns = perLanguage(() => [
  t`Name`,
  t`Allows`,
  t`Instances`,
  t`Created by`,
  t`Expires`,
  t`Last used`,
  t`Actions`,
]);

/** The API tokens for machines, with a form to create one. */
export function TokenList() {
  const query = useTokens();
  const [created, setCreated] = useState<CreatedTokenView>();
  const [rotated, setRotated] = useState<TokenView>();
  const queries = useQueryClient();
  const reload = (): void => void queries.invalidateQueries({ queryKey: TOKENS_KEY });
  const { ask, panel } = usePlannedChange(t`Couldn't change the API token`, reload);
  const askToRevoke = ({ id, name }: TokenView): void =>
    ask({
      title: t`Revoke ${name}?`,
      label: t`Revoke`,
      done: t`${name} was revoked`,
      isDanger: true,
      preview: (signal) => previewRevocation(id, signal),
      run: () => revokeToken(id),
    });
  const askToStop = ({ id, name }: TokenView): void =>
    ask({
      title: t`Stop ${name}?`,
      label: t`Stop`,
      done: t`${name} was stopped`,
      isDanger: true,
      preview: (signal) => previewAgent('stop', id, signal),
      run: () => switchAgent('stop', id),
    });
  const askToResume = ({ id, name }: TokenView): void =>
    ask({
      title: t`Let ${name} continue?`,
      label: t`Continue`,
      done: t`${name} continues`,
      preview: (signal) => previewAgent('resume', id, signal),
      run: () => switchAgent('resume', id),
    });

  return (
    <section aria-label={t`API tokens`} className="hg-section">
      <h2>{t`API tokens`}</h2>
      <p className="hg-note">{t`Credentials of scripts and other services that call the API`}</p>
      {created && (
        <Alert
          variant="success"
          title={t`Copy the token of ${created.name} now: it is not shown again.`}
          onDismiss={() => setCreated(undefined)}
        >
          <code>{created.token}</code>
        </Alert>
      )}
      <ListStates
        query={query}
        failure={t`Couldn't load the API tokens`}
        loading={t`Loading the API tokens`}
        empty={t`No API tokens yet`}
      >
        {(tokens) => (
          <Table label={t`API tokens`} columns={columns()} className="hg-gap-below">
            {tokens.map((token) => (
              <tr key={token.id}>
                <td>
                  {token.name}
                  {token.device && <p className="hg-note">{t`Program of the user`}</p>}
                  {token.stopped && (
                    <StatusLabel wording={{ tone: 'warning', icon: 'triangle', words: t`Agent stopped` }} />
                  )}
                </td>
                <td>
                  {token.actions.map((action) => tokenActions()[action]).join(', ')}
                  {token.agent && <p className="hg-note">{leashText(token.agent)}</p>}
                </td>
                <td>
                  {scopeText(token.scope)}
                  {token.addresses.length > 0 && (
                    <p className="hg-note">{t`Only from ${token.addresses.join(', ')}`}</p>
                  )}
                </td>
                <td>{token.creator || '–'}</td>
                <td>{token.expired ? t`Expired` : <Timestamp at={token.expiresAt} brief />}</td>
                <td>{token.lastUsedAt === null ? t`Never` : <Timestamp at={token.lastUsedAt} />}</td>
                <td>
                  <ReasonedButton
                    variant="link"
                    aria-label={t`Rotate ${token.name}`}
                    reason={token.expired ? t`It has expired: create another one.` : undefined}
                    onClick={() => setRotated(token)}
                  >
                    {t`Rotate`}
                  </ReasonedButton>
                  {token.agent && (
                    <ReasonedButton
                      variant="link"
                      aria-label={token.stopped ? t`Let ${token.name} continue` : t`Stop ${token.name}`}
                      reason={undefined}
                      onClick={() => (token.stopped ? askToResume(token) : askToStop(token))}
                    >
                      {token.stopped ? t`Continue` : t`Stop`}
                    </ReasonedButton>
                  )}
                  <ReasonedButton
                    variant="link"
                    aria-label={t`Revoke ${token.name}`}
                    reason={undefined}
                    onClick={() => askToRevoke(token)}
                  >
                    {t`Revoke`}
                  </ReasonedButton>
                </td>
              </tr>
            ))}
          </Table>
        )}
      </ListStates>
      <TokenForm
        key={created?.id}
        onCreated={(token) => {
          setCreated(token);
          reload();
        }}
      />
      {rotated && (
        <PlanPanel
          title={t`Rotate ${rotated.name}?`}
          label={t`Rotate`}
          failure={t`Couldn't rotate ${rotated.name}`}
          isDanger
          preview={(signal) => previewRotation(rotated.id, signal)}
          run={() => rotateToken(rotated.id)}
          onClose={() => setRotated(undefined)}
          onDone={(token) => {
            setRotated(undefined);
            setCreated(token);
            reload();
          }}
        />
      )}
      {panel}
    </section>
  );
}

function leashText({ changesPerHour, maxPercentOfFolder, approval }: NonNullable<TokenView['agent']>): string {
  const limits = t`Agent: ${changesPerHour} changes an hour, ${maxPercentOfFolder}% of a folder`;
  return `${limits}. ${t`Approval by a user`}: ${approvals()[approval]}`;
}
