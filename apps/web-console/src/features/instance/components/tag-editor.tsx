import { Button, Label, LabelGroup, TextInput } from '@patternfly/react-core';
import { useMutation } from '@tanstack/react-query';
import type { TagDto, VmView } from '@headgate/api-contracts';
import { useState } from 'react';
import { messageOf } from '../../../shared/api/api-error.js';
import { tagProblem } from '../../../shared/names/name-rule.js';
import { useNotify } from '../../../shared/ui/notifications.js';
import { setTag } from '../../../shared/instances/set-tag.js';

/** The instance's tags; each goes with a click, a new one is typed. */
export function TagEditor({ vm, refusal }: { vm: VmView; refusal?: string | undefined }) {
  const [text, setText] = useState('');
  const notify = useNotify();
  const { mutate, isPending } = useMutation({
    mutationFn: (tag: TagDto) => setTag(vm, tag),
    onSuccess: (_answer, { tag, on }) => {
      if (on) return setText('');
      notify({
        variant: 'success',
        title: `The tag ${tag} was removed`,
        action: { label: 'Undo', run: () => mutate({ tag, on: true }) },
      });
    },
    onError: (error, { tag }) =>
      notify({ variant: 'danger', title: `The tag ${tag} was refused`, body: messageOf(error) }),
  });
  const problem = text === '' ? undefined : tagProblem(text);

  return (
    <div className="hg-tag-editor">
      {vm.tags.length > 0 && (
        <LabelGroup aria-label={`Tags of ${vm.name}`} numLabels={12}>
          {vm.tags.map((tag) => (
            <Label
              key={tag}
              isCompact
              {...(refusal
                ? {}
                : { onClose: () => mutate({ tag, on: false }), closeBtnAriaLabel: `Remove the tag ${tag}` })}
            >
              {tag}
            </Label>
          ))}
        </LabelGroup>
      )}
      {!refusal && (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            if (text !== '' && !problem) mutate({ tag: text, on: true });
          }}
        >
          <TextInput
            aria-label="New tag"
            placeholder="Add a tag"
            value={text}
            validated={problem ? 'error' : 'default'}
            onChange={(_event, value) => setText(value)}
          />
          <Button
            type="submit"
            variant="secondary"
            size="sm"
            isDisabled={text === '' || problem !== undefined || isPending}
          >
            Add
          </Button>
        </form>
      )}
      {problem && (
        <p role="alert" className="hg-status--bad">
          {problem}
        </p>
      )}
    </div>
  );
}
