import { t } from '@lingui/core/macro';
import type { WebhookView } from '@headgate/api-contracts';
import { useState } from 'react';
import { Button } from '../../../shared/ui/button.js';
import { ErrorAlert } from '../../../shared/ui/error-alert.js';
import { LabeledInput } from '../../../shared/ui/labeled-input.js';
import { changeWebhook } from '../api/webhook-requests.js';

/** Changes which instances a webhook is for. */
export function WebhookScopeForm({
  webhook,
  onClose,
  onChanged,
}: {
  webhook: WebhookView;
  onClose: () => void;
  onChanged: () => void;
}) {
  const [folder, setFolder] = useState(webhook.scope.folder ?? '');
  const [words, setWords] = useState(webhook.scope.q ?? '');
  const [error, setError] = useState<unknown>();
  const [isSaving, setIsSaving] = useState(false);

  const save = async (): Promise<void> => {
    setIsSaving(true);
    setError(undefined);
    try {
      // The kind and the context can be set over the API only, and stay as they are.
      const { folder: _folder, q: _q, ...others } = webhook.scope;
      await changeWebhook(webhook.id, { scope: { ...others, ...scopeOf(folder, words) } });
      onChanged();
    } catch (problem) {
      setError(problem);
    } finally {
      setIsSaving(false);
    }
  };

  return (
    <form
      aria-label={t`Scope of ${webhook.name}`}
      onSubmit={(event) => {
        event.preventDefault();
        if (!isSaving) void save();
      }}
    >
      {error !== undefined && <ErrorAlert title={t`Couldn't change the webhook`} error={error as Error} />}
      <div className="hg-toolbar hg-toolbar--fields hg-gap-below">
        <LabeledInput label={t`Folder`} placeholder={t`All`} value={folder} onChange={setFolder} />
        <LabeledInput label={t`Search words`} placeholder={t`All`} value={words} onChange={setWords} />
        <Button variant="secondary" type="submit">
          {t`Save`}
        </Button>
        <Button variant="link" onClick={onClose}>
          {t`Cancel`}
        </Button>
      </div>
    </form>
  );
}

/** The scope of the two fields of a form. */
export const scopeOf = (folder: string, words: string): { folder?: string; q?: string } => ({
  ...(folder.trim() !== '' && { folder: folder.trim() }),
  ...(words.trim() !== '' && { q: words.trim() }),
});
