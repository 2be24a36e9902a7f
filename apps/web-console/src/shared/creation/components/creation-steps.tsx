import { t } from '@lingui/core/macro';
interface CreationStepsProps {
  /** The sections by their IDs, and whether all of their fields are valid. */
  steps: readonly { readonly id: string; readonly title: string; readonly isDone: boolean }[];
}

/** The sections of the form. All are on one page, in any order. */
export function CreationSteps({ steps }: CreationStepsProps) {
  return (
    <nav className="hg-create-steps" aria-label={t`Sections`}>
      <ol>
        {steps.map(({ id, title, isDone }, index) => (
          <li key={id}>
            <button
              type="button"
              onClick={() => document.getElementById(`create-${id}`)?.scrollIntoView({ block: 'start' })}
            >
              <span className="hg-create-number" data-done={isDone} aria-hidden="true">
                {index + 1}
              </span>
              {title}
            </button>
          </li>
        ))}
      </ol>
      <p className="hg-note">{t`Everything is on one page. Change settings in any order; the review is updated as you type.`}</p>
    </nav>
  );
}
