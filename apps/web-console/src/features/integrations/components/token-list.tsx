import { useQueryClient } from '@tanstack/react-query';
import type { CreatedTokenView, TokenView } from '@headgate/api-contracts';
import { useState } from 'react';
import { PlanPanel } from '../../../shared/plans/plan-panel.js';
import { Alert } from '../../../shared/ui/alert.js';
import { ErrorAlert } from '../../../shared/ui/error-alert.js';
import { Skeleton } from '../../../shared/ui/loading.js';
import { useNotify } from '../../../shared/ui/notifications.js';
import { ReasonedButton } from '../../../shared/ui/reasoned-button.js';
import { Table } from '../../../shared/ui/table.js';
import { Timestamp } from '../../../shared/ui/timestamp.js';
import { previewRevocation, revokeToken, TOKENS_KEY, useTokens } from '../api/token-requests.js';
import { ACTIONS, TokenForm } from './token-form.js';

const COLUMNS = ['Name', 'Allows', 'Instances', 'Created by', 'Expires', 'Last used', 'Actions'];

/** The API tokens for machines, with a form to create one. */
export function TokenList() {
  const { data: tokens, error, refetch } = useTokens();
  const [created, setCreated] = useState<CreatedTokenView>();
  const [revoked, setRevoked] = useState<TokenView>();
  const queries = useQueryClient();
  const notify = useNotify();
  const reload = (): void => void queries.invalidateQueries({ queryKey: TOKENS_KEY });

  return (
    <section aria-label="API tokens" className="hg-section">
      <h2>API tokens</h2>
      <p className="hg-note">Credentials of scripts and other services that call the API</p>
      {created && (
        <Alert
          variant="success"
          title={`${created.name} was created. Copy the token now: it is not shown again.`}
          onDismiss={() => setCreated(undefined)}
        >
          <code>{created.token}</code>
        </Alert>
      )}
      {error && <ErrorAlert title="Couldn't load the API tokens" error={error} onRetry={() => void refetch()} />}
      {!tokens && !error && <Skeleton height="6rem" label="Loading the API tokens" />}
      {tokens?.length === 0 && <p className="hg-note">No API tokens yet</p>}
      {tokens && tokens.length > 0 && (
        <Table label="API tokens" columns={COLUMNS} className="hg-gap-below">
          {tokens.map((token) => (
            <tr key={token.id}>
              <td>{token.name}</td>
              <td>{token.actions.map((action) => ACTIONS[action]).join(', ')}</td>
              <td>{scopeText(token.scope)}</td>
              <td>{token.creator || '–'}</td>
              <td>{token.expired ? 'Expired' : <Timestamp at={token.expiresAt} brief />}</td>
              <td>{token.lastUsedAt === null ? 'Never' : <Timestamp at={token.lastUsedAt} />}</td>
              <td>
                <ReasonedButton
                  variant="link"
                  aria-label={`Revoke ${token.name}`}
                  reason={undefined}
                  onClick={() => setRevoked(token)}
                >
                  Revoke
                </ReasonedButton>
              </td>
            </tr>
          ))}
        </Table>
      )}
      <TokenForm
        key={created?.id}
        onCreated={(token) => {
          setCreated(token);
          reload();
        }}
      />
      {revoked && (
        <PlanPanel
          title={`Revoke ${revoked.name}?`}
          label="Revoke"
          failure={`Couldn't revoke ${revoked.name}`}
          isDanger
          preview={(signal) => previewRevocation(revoked.id, signal)}
          run={() => revokeToken(revoked.id)}
          onClose={() => setRevoked(undefined)}
          onDone={() => {
            setRevoked(undefined);
            notify({ variant: 'success', title: `${revoked.name} was revoked` });
            reload();
          }}
        />
      )}
    </section>
  );
}

const KINDS = { vm: 'virtual machines', ct: 'containers' } as const;

function scopeText({ kind, q, context, folder }: TokenView['scope']): string {
  const parts = [
    kind && KINDS[kind],
    folder !== undefined && `in ${folder}`,
    context !== undefined && `of ${context}`,
    q !== undefined && `matching "${q}"`,
  ].filter(Boolean);
  return parts.length === 0 ? 'All' : parts.join(' ');
}
