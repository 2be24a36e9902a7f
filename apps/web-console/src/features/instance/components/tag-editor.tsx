import { t } from '@lingui/core/macro';
import { useMutation } from '@tanstack/react-query';
import type { TagDto } from '@headgate/api-contracts';
import { useState } from 'react';
import { messageOf } from '../../../shared/api/api-error.js';
import { busyReason } from '../../../shared/instances/busy.js';
import type { Instance } from '../../../shared/instances/instance.js';
import { setTag } from '../../../shared/instances/instance-requests.js';
import { tagProblem } from '../../../shared/names/name-rule.js';
import { ReasonedButton } from '../../../shared/ui/reasoned-button.js';
import { Icon } from '../../../shared/ui/icon.js';
import { TextInput } from '../../../shared/ui/inputs.js';
import { useNotify } from '../../../shared/ui/notifications.js';
import { Data } from '../../../shared/ui/data.js';

/** The tags of an instance: a click removes a tag, the form adds one. */
export function TagEditor({ vm, refusal }: { vm: Instance; refusal?: string | undefined }) {
  const [text, setText] = useState('');
  const notify = useNotify();
  const { mutate, isPending } = useMutation({
    mutationFn: (tag: TagDto) => setTag(vm, tag),
    onSuccess: (_answer, { tag, on }) => {
      if (on) return setText('');
      notify({
        variant: 'success',
        title: t`Removed tag ${tag}`,
        action: { label: t`Undo`, run: () => mutate({ tag, on: true }) },
      });
    },
    onError: (error, { tag, on }) =>
      notify({
        variant: 'danger',
        title: on ? t`Couldn't add tag ${tag}` : t`Couldn't remove tag ${tag}`,
        body: messageOf(error),
      }),
  });
  const problem = text === '' ? undefined : tagProblem(text);
  const busy = busyReason(vm);

  return (
    <div className="hg-tag-editor">
      {vm.tags.length > 0 && (
        <ul className="hg-tag-list" aria-label={t`Tags of ${vm.name}`}>
          {vm.tags.map((tag) => (
            <li key={tag} className="hg-tag">
              <Data>{tag}</Data>
              {!refusal && (
                <button
                  type="button"
                  aria-label={t`Remove tag ${tag}`}
                  title={busy}
                  aria-disabled={busy !== undefined}
                  onClick={() => busy === undefined && mutate({ tag, on: false })}
                >
                  <Icon name="cross" />
                </button>
              )}
            </li>
          ))}
        </ul>
      )}
      {!refusal && (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            if (text !== '' && !problem && busy === undefined) mutate({ tag: text, on: true });
          }}
        >
          <TextInput
            aria-label={t`New tag`}
            placeholder={t`Add a tag`}
            value={text}
            isInvalid={problem !== undefined}
            onChange={setText}
          />
          <ReasonedButton
            type="submit"
            reason={busy}
            variant="secondary"
            isSmall
            isDisabled={text === '' || problem !== undefined || isPending}
          >
            {t`Add`}
          </ReasonedButton>
        </form>
      )}
      {problem && (
        <p role="alert" className="hg-status--danger">
          {problem}
        </p>
      )}
    </div>
  );
}
