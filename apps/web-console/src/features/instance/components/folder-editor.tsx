import { t } from '@lingui/core/macro';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { messageOf } from '../../../shared/api/api-error.js';
import { busyReason } from '../../../shared/instances/busy.js';
import type { Instance } from '../../../shared/instances/instance.js';
import { ReasonedButton } from '../../../shared/ui/reasoned-button.js';
import { TextInput } from '../../../shared/ui/inputs.js';
import { useNotify } from '../../../shared/ui/notifications.js';
import { useFolderPaths } from '../../../shared/queries/use-folder-paths.js';
import { putIntoFolder, takeOutOfFolder } from '../../../shared/folders/folder-requests.js';
import { Data } from '../../../shared/ui/data.js';

const SUGGESTIONS_ID = 'folder-suggestions';

/** The folder of an instance: the form assigns another one, which is created when it does not exist. */
export function FolderEditor({ vm, refusal }: { vm: Instance; refusal?: string | undefined }) {
  const [text, setText] = useState('');
  const [isEditing, setIsEditing] = useState(false);
  const { data: paths = [] } = useFolderPaths(isEditing);
  const queries = useQueryClient();
  const notify = useNotify();
  const busy = busyReason(vm);
  const { mutate, isPending } = useMutation({
    mutationFn: async (path: string) => {
      if (path === '') await takeOutOfFolder(vm.ref);
      else await putIntoFolder(vm.ref, path, paths);
    },
    onSuccess: (_answer, path) => {
      setText('');
      notify({
        variant: 'success',
        title: path === '' ? t`${vm.name} is in no folder now` : t`${vm.name} is in the folder ${path} now`,
      });
    },
    onError: (error) =>
      notify({ variant: 'danger', title: t`Couldn't change the folder of ${vm.name}`, body: messageOf(error) }),
    onSettled: () => void queries.invalidateQueries({ queryKey: ['folders'] }),
  });

  return (
    <div className="hg-tag-editor">
      <p>{vm.folder === undefined ? t`None` : <Data>{vm.folder}</Data>}</p>
      {!refusal && (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            if (text.trim() !== '' && busy === undefined) mutate(text.trim());
          }}
        >
          <TextInput
            aria-label={t`New folder`}
            placeholder={t`Such as prod/web`}
            list={SUGGESTIONS_ID}
            value={text}
            onFocus={() => setIsEditing(true)}
            onChange={setText}
          />
          <datalist id={SUGGESTIONS_ID}>
            {paths.map((path) => (
              <option key={path} value={path} />
            ))}
          </datalist>
          <ReasonedButton
            type="submit"
            variant="secondary"
            isSmall
            reason={busy}
            isDisabled={text.trim() === '' || isPending}
          >
            {t`Assign`}
          </ReasonedButton>
          {vm.folder !== undefined && (
            <ReasonedButton variant="secondary" isSmall reason={busy} isDisabled={isPending} onClick={() => mutate('')}>
              {t`Remove`}
            </ReasonedButton>
          )}
        </form>
      )}
    </div>
  );
}
