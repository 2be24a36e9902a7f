import { t } from '@lingui/core/macro';
import type { HardwareChangesPlanView } from '@headgate/api-contracts';
import { readableSizes } from '../quantity/quantity.js';
import { perLanguage } from '../texts/per-language.js';

const groups = perLanguage(
  () =>
    [
      ['now', t`Now`],
      ['restart', t`With one restart`],
      ['next-start', t`At the next start`],
    ] as const,
);

/** Changes with their values before and after, grouped by when they take effect. */
export const ChangesByEffect = ({ changes }: Pick<HardwareChangesPlanView, 'changes'>) =>
  groups().map(([effect, title]) => {
    const group = changes.filter((change) => change.effect === effect && change.steps.length > 0);
    if (group.length === 0) return null;
    return (
      <section key={effect} aria-label={title}>
        <h4>{title}</h4>
        <ul className="hg-changes">
          {group.map(({ index, action, before, after, steps }) => (
            <li key={index}>
              <b lang="en">{readableSizes(action)}</b>{' '}
              {before !== '' && (
                <>
                  <del>{readableSizes(before)}</del> <span aria-hidden="true">→</span>{' '}
                </>
              )}
              {after !== '' && <ins>{readableSizes(after)}</ins>}
              {steps.map(({ name, detail }) => (
                <p key={`${name} ${detail}`} className="hg-note" lang="en">
                  {readableSizes(detail)}
                </p>
              ))}
            </li>
          ))}
        </ul>
      </section>
    );
  });
