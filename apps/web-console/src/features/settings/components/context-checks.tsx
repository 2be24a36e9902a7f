import { t } from '@lingui/core/macro';
import type { ContextCheckView } from '@headgate/api-contracts';
import { readableSizes } from '../../../shared/quantity/quantity.js';
import { perLanguage } from '../../../shared/texts/per-language.js';
import { StatusLabel } from '../../../shared/ui/status-label.js';
import type { StatusWording } from '../../../shared/ui/status-tone.js';

const results = perLanguage((): Readonly<Record<ContextCheckView['status'], StatusWording>> => ({
  ok: { tone: 'success', icon: 'check', words: t`Passed` },
  warning: { tone: 'warning', icon: 'triangle', words: t`Warning` },
  error: { tone: 'danger', icon: 'diamond', words: t`Failed` },
}));

/** The checks of a test, each with its remedy. */
export function ContextChecks({ checks }: { checks: readonly ContextCheckView[] }) {
  const failed = checks.filter(({ status }) => status === 'error').length;
  return (
    <div role="status">
      <p>{failed === 0 ? t`The test succeeded.` : t`The test failed.`}</p>
      <ul className="hg-passed" aria-label={t`Checks`}>
        {checks.map(({ name, status, message, remedy }, index) => (
          <li key={`${index} ${name}`}>
            <StatusLabel wording={results()[status]} />
            <span>
              {readableSizes(message)} {remedy !== '' && <span className="hg-note">{remedy}</span>}
            </span>
          </li>
        ))}
      </ul>
    </div>
  );
}

/** The checks in the details of a refusal. */
export function checksIn(details: unknown): readonly ContextCheckView[] | undefined {
  if (typeof details !== 'object' || details === null || !('checks' in details)) return undefined;
  return Array.isArray(details.checks) ? (details.checks as ContextCheckView[]) : undefined;
}
