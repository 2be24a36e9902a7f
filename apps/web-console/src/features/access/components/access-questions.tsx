import { t } from '@lingui/core/macro';
import { useState } from 'react';
import { TextField } from '../../../shared/creation/components/text-field.js';
import { useFolderPaths } from '../../../shared/queries/use-folder-paths.js';
import { ErrorAlert } from '../../../shared/ui/error-alert.js';
import { Field } from '../../../shared/ui/field.js';
import { SelectInput } from '../../../shared/ui/inputs.js';
import { Skeleton } from '../../../shared/ui/loading.js';
import { ReasonedButton } from '../../../shared/ui/reasoned-button.js';
import { EMPTY_QUESTION, problemOf, questionOf, type AccessQuestion, type QuestionForm } from '../access-question.js';
import { useAccess } from '../api/role-requests.js';
import { useRefSuggestions } from '../use-ref-suggestions.js';
import { AccessAnswers } from './access-answers.js';
import { SubjectFields } from './subject-fields.js';

/** Answers who may do what, and why. Only administrators may ask about others. */
export function AccessQuestions({ isAdmin }: { isAdmin: boolean }) {
  const [form, setForm] = useState<QuestionForm>(EMPTY_QUESTION);
  const [question, setQuestion] = useState<AccessQuestion | undefined>(isAdmin ? undefined : {});
  const { data: folders = [] } = useFolderPaths(true);
  const refs = useRefSuggestions(form.instance);
  const { data, error, isFetching, refetch } = useAccess(question);
  const change = (part: Partial<QuestionForm>): void => setForm((before) => ({ ...before, ...part }));
  const reason = problemOf(form);
  const title = isAdmin ? t`Who may do this, and why?` : t`What you may do, and why`;

  const ask = (): void => {
    const next = questionOf(form);
    setQuestion(next);
    // The same question again: its answer may be another one now.
    if (JSON.stringify(next) === JSON.stringify(question)) void refetch();
  };

  return (
    <section aria-label={title} className="hg-section">
      <h2>{title}</h2>
      <form
        aria-label={title}
        className="hg-form hg-form--narrow hg-gap-below"
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          if (reason === undefined) ask();
        }}
      >
        {isAdmin && (
          <SubjectFields
            id="question"
            kind={form.subjectKind}
            name={form.subject}
            isRequired={false}
            userHint={t`Empty for yourself. The groups of another user are not known: ask about the group.`}
            onChange={change}
          />
        )}
        <Field label={t`With what`} id="question-object">
          <SelectInput
            id="question-object"
            value={form.object}
            onChange={(object) => change({ object: object as QuestionForm['object'] })}
          >
            <option value="everything">{t`Everything`}</option>
            <option value="folder">{t`A folder`}</option>
            <option value="instance">{t`An instance`}</option>
          </SelectInput>
        </Field>
        {form.object === 'folder' && (
          <TextField
            id="question-folder"
            label={t`Folder`}
            required
            suggestions={folders}
            value={form.folder}
            onChange={(folder) => change({ folder })}
          />
        )}
        {form.object === 'instance' && (
          <TextField
            id="question-instance"
            label={t`Instance`}
            required
            suggestions={refs}
            hint={t`Its ref, such as vm/prod/default/web-1`}
            value={form.instance}
            onChange={(instance) => change({ instance })}
          />
        )}
        <div className="hg-toolbar">
          <ReasonedButton type="submit" variant="secondary" reason={reason} isLoading={isFetching}>
            {t`Show the answer`}
          </ReasonedButton>
        </div>
      </form>
      {error && <ErrorAlert title={t`Couldn't load the answer`} error={error} onRetry={() => void refetch()} />}
      {question && !data && !error && <Skeleton height="6rem" label={t`Loading the answer`} />}
      {data && !error && <AccessAnswers access={data} />}
    </section>
  );
}
